/* See indexing.h. Thread: its loop. */
#include "know/indexing.h"

#include "base/clock.h"
#include "base/fair.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "know/internal.h"
#include "store/store.h"
#include "store/word_index.h"

enum {
    AGAIN_US = 1000000, /* for what another node has changed */
    STEP_US = 50000,    /* of a store thread at a time */
};

struct indexing {
    struct know *know;
    struct store *store;
    struct loop *loop;
    struct store_watch *watch;
    struct timer look;
    bool is_under_way, is_closing;
    /* by the job under way */
    bool is_done;
};

static void go_on(void *arg);

static enum err step(struct tx *tx, void *arg)
{
    struct indexing *indexing = arg;
    return word_index_step(know_index(indexing->know), tx, clock_now_us() + STEP_US,
                           &indexing->is_done);
}

static void on_stepped(void *arg, enum err err)
{
    struct indexing *indexing = arg;
    struct know *know = indexing->know;
    indexing->is_under_way = false;
    if (err && !store_is_transient(err))
        log_warn("know.not_indexed", LOG_S("error", err_name(err)));
    if (indexing->is_closing)
        mem_free(indexing);
    else if (!err && !indexing->is_done)
        go_on(indexing);
    know_release(know);
}

static void go_on(void *arg)
{
    struct indexing *indexing = arg;
    timer_set_after(&indexing->look, AGAIN_US);
    if (indexing->is_under_way)
        return;
    indexing->is_under_way = true;
    know_hold(indexing->know);
    struct store_line line = {.key = FAIR_OPERATOR, .mode = STORE_READ};
    if (!store_job_for(indexing->store, line, step, indexing, indexing->loop, on_stepped))
        return;
    indexing->is_under_way = false;
    know_release(indexing->know);
}

static void on_documents_changed(void *arg, unsigned topics)
{
    (void)topics;
    go_on(arg);
}

struct indexing *indexing_open(struct know *know, const struct know_config *config)
{
    struct indexing *indexing = mem_new(struct indexing);
    indexing->know = know;
    indexing->store = config->store;
    indexing->loop = config->loop;
    timer_init(&indexing->look, config->loop, go_on, indexing);
    timer_set_after(&indexing->look, 0);
    indexing->watch =
        store_watch(config->store, STORE_DOCUMENTS, config->loop, on_documents_changed, indexing);
    return indexing;
}

void indexing_close(struct indexing *indexing)
{
    timer_stop(&indexing->look);
    store_unwatch(indexing->watch);
    indexing->is_closing = true;
    if (!indexing->is_under_way)
        mem_free(indexing);
}
