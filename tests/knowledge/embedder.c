/* See embedder.h. */
#include "embedder.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/guard.h"
#include "net/http_client.h"
#include "net/resolver.h"
#include "store/internal.h"
#include "unit/store/fixture.h"
#include "unit/vendor/rig.h"

struct embedder {
    struct guard *guard;
    struct resolver *resolver;
    struct http_client *http;
    struct vendor *vendor;
    struct registry *registry;
};

struct embedder *embedder_open(struct loop *loop)
{
    const char *url = getenv("KNOWLEDGE_EMBEDDINGS");
    if (!url)
        return NULL;
    struct embedder *embedder = mem_new(struct embedder);
    if (guard_new(NULL, &embedder->guard, NULL) != OK ||
        resolver_new(loop, embedder->guard, NULL, &embedder->resolver, NULL) != OK)
        abort();
    embedder->http =
        http_client_new(loop, &(struct http_client_config){.resolver = embedder->resolver});
    embedder->vendor = vendor_new(&(struct vendor_config){.voice_path = ""});
    vendor_add_loop(embedder->vendor, loop, embedder->http, NULL);
    AUTO_MEM char *setting = mem_printf("engine.openai-embeddings.url=%s", url);
    embedder->registry = rig_registry(embedder->vendor, (const char *const[]){setting}, 1);
    return embedder;
}

void embedder_close(struct embedder *embedder)
{
    if (!embedder)
        return;
    registry_free(embedder->registry);
    vendor_free(embedder->vendor);
    http_client_free(embedder->http);
    resolver_free(embedder->resolver);
    guard_free(embedder->guard);
    mem_free(embedder);
}

const struct engine *embedder_engine(const struct embedder *embedder)
{
    return embedder ? registry_find(embedder->registry, ENGINE_EMBED, "openai-embeddings") : NULL;
}

void embedder_await(struct fix *fix, size_t documents)
{
    int64_t done, before = 0;
    struct fix_wait wait = {0};
    do {
        struct tx *tx = fix_read(fix);
        done = QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM documents WHERE vector_model <> ''");
        fix_rollback(tx);
        if (done > before)
            wait = (struct fix_wait){0}; /* a model on a processor takes its time */
        before = done;
    } while (done < (int64_t)documents && fix_wait(&wait));
    CHECK_INT(done, documents);
}

struct asking {
    struct know *know;
    const char *workspace_id, *query;
    struct arena *arena;
    struct know_vector vector;
    _Atomic bool has_come;
};

static void on_meant(void *arg, const struct know_vector *vector)
{
    struct asking *asking = arg;
    if (vector->numbers) {
        float *numbers = arena_new_n(asking->arena, float, vector->size);
        memcpy(numbers, vector->numbers, vector->size * sizeof(*numbers));
        asking->vector = (struct know_vector){numbers, vector->size};
    }
    atomic_store(&asking->has_come, true);
}

/* On the loop. */
static void mean(void *arg)
{
    struct asking *asking = arg;
    know_mean(asking->know, asking->workspace_id, asking->query, on_meant, asking);
}

struct know_vector embedder_mean(struct know *know, struct loop *loop, struct fix *fix,
                                 const char *query)
{
    struct asking asking = {
        .know = know, .workspace_id = fix->workspace_id, .query = query, .arena = fix->arena};
    struct fix_wait wait = {0};
    do { /* what comes too late is kept for the next time */
        atomic_store(&asking.has_come, false);
        loop_post(loop, mean, &asking);
        for (struct fix_wait once = {0}; !atomic_load(&asking.has_come) && fix_wait(&once);)
            continue;
        if (!atomic_load(&asking.has_come)) /* it would write here later on */
            abort();
    } while (!asking.vector.numbers && fix_wait(&wait));
    CHECK(asking.vector.numbers != NULL);
    return asking.vector;
}
