/* See bell.h. A ring that stands in the loop's queue outlives the bell's owner: it holds a
 * reference of its own. Thread: any. */
#include "base/bell.h"

#include <pthread.h>

#include "base/loop.h"
#include "base/mem.h"

struct bell {
    pthread_mutex_t mutex; /* for all below */
    struct loop *loop;     /* NULL: closed */
    bell_fn *fn;
    void *arg;
    unsigned pending; /* not 0: a message is under way */
    unsigned refs;    /* the owner's, and the message's */
};

struct bell *bell_new(struct loop *loop, bell_fn *fn, void *arg)
{
    struct bell *bell = mem_new(struct bell);
    pthread_mutex_init(&bell->mutex, NULL);
    bell->loop = loop;
    bell->fn = fn;
    bell->arg = arg;
    bell->refs = 1;
    return bell;
}

/* Locked; unlocks. */
static void unref(struct bell *bell)
{
    unsigned left = --bell->refs;
    pthread_mutex_unlock(&bell->mutex);
    if (left)
        return;
    pthread_mutex_destroy(&bell->mutex);
    mem_free(bell);
}

static void hear(void *arg)
{
    struct bell *bell = arg;
    pthread_mutex_lock(&bell->mutex);
    unsigned bits = bell->pending;
    bell_fn *fn = bell->loop ? bell->fn : NULL; /* closed on this thread only: it stays so */
    void *fn_arg = bell->arg;
    bell->pending = 0;
    unref(bell);
    if (fn)
        fn(fn_arg, bits);
}

void bell_ring(struct bell *bell, unsigned bits)
{
    pthread_mutex_lock(&bell->mutex);
    bool must_post = bell->loop && bell->pending == 0 && bits;
    bell->pending |= bits;
    if (must_post) {
        bell->refs++;
        loop_post(bell->loop, hear, bell);
    }
    pthread_mutex_unlock(&bell->mutex);
}

void bell_close(struct bell *bell)
{
    pthread_mutex_lock(&bell->mutex);
    bell->loop = NULL;
    pthread_mutex_unlock(&bell->mutex);
}

void bell_free(struct bell *bell)
{
    if (!bell)
        return;
    pthread_mutex_lock(&bell->mutex);
    unref(bell);
}
