#include "base/bell.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/loop.h"
#include "test.h"

struct heard {
    unsigned bits, calls;
};

static void hear(void *arg, unsigned bits)
{
    struct heard *heard = arg;
    heard->bits |= bits;
    heard->calls++;
}

static void stop(void *arg)
{
    loop_stop(arg);
}

TEST(bell_gathers_rings_into_one_call)
{
    AUTO(loop) loop = loop_new("test");
    struct heard heard = {0};
    struct bell *bell = bell_new(loop, hear, &heard);
    bell_ring(bell, 1);
    bell_ring(bell, 4);
    bell_ring(bell, 0);
    loop_post(loop, stop, loop);
    loop_run(loop);
    CHECK_INT(heard.calls, 1);
    CHECK_INT(heard.bits, 5);
    bell_ring(bell, 2);
    loop_post(loop, stop, loop);
    loop_run(loop);
    CHECK_INT(heard.calls, 2);
    CHECK_INT(heard.bits, 7);
    bell_close(bell);
    bell_free(bell);
}

/* What still stands in the queue when all is freed is run by loop_free(), and hurts nobody. */
TEST(bell_that_is_closed_is_rung_in_vain)
{
    struct loop *loop = loop_new("test");
    struct heard heard = {0};
    struct bell *bell = bell_new(loop, hear, &heard);
    bell_ring(bell, 1);
    bell_close(bell);
    bell_ring(bell, 2);
    bell_free(bell);
    loop_free(loop);
    CHECK_INT(heard.calls, 0);
}

static _Atomic bool is_over;

static void *ring_on(void *arg)
{
    while (!atomic_load(&is_over))
        bell_ring(arg, 1);
    return NULL;
}

/* The loop goes while others ring. */
TEST(bell_outlives_its_loop)
{
    pthread_t threads[2];
    struct loop *loop = loop_new("test");
    struct heard heard = {0};
    struct bell *bell = bell_new(loop, hear, &heard);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, ring_on, bell) == 0);
    for (int i = 0; i < 100; i++) {
        loop_post(loop, stop, loop);
        loop_run(loop);
    }
    bell_close(bell);
    loop_free(loop);
    unsigned calls = heard.calls;
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(heard.calls, calls);
    bell_free(bell);
}
