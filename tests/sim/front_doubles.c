/* What stands beyond the front: scripted calls, tools, deliveries, names and search, and the door
 * to the store. */
#include <string.h>

#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "call/calls.h"
#include "call/plan.h"
#include "call/snapshot.h"
#include "event/delivery.h"
#include "fake/loop.h"
#include "front.h"
#include "know/know.h"
#include "model/call.h"
#include "net/guard.h"
#include "net/resolver.h"
#include "store/store.h"
#include "sweep.h"
#include "test.h"
#include "tool/run.h"

struct front_doubles front_doubles;

/* What is answered later, on the control loop. */
struct later {
    struct timer timer;
    loop_fn *fn;
    void *arg;
    union {
        calls_done_fn *call;
        tool_done_fn *tool;
        delivery_test_fn *delivery;
        url_check_fn *url;
    } told;
    enum err err;
};

static struct later *later_new(loop_fn *fn, void *arg, int64_t delay_us)
{
    struct later *later = mem_new(struct later);
    later->arg = arg;
    timer_init(&later->timer, front.control, fn, later);
    timer_set_after(&later->timer, delay_us);
    return later;
}

/* The door to the store. */

struct held_job {
    struct list_node node;
    struct timer timer;
    struct store *store;
    struct store_line line;
    char key[64];
    store_fn *fn;
    void *arg;
    struct loop *loop;
    store_done_fn *done;
};
static struct list_node held_jobs;

enum err __real_store_job_for(struct store *store, struct store_line line, store_fn *fn, void *arg,
                              struct loop *loop, store_done_fn *done);
enum err __wrap_store_job_for(struct store *store, struct store_line line, store_fn *fn, void *arg,
                              struct loop *loop, store_done_fn *done);

static void hand_in(void *arg)
{
    struct held_job *job = arg;
    enum err err =
        __real_store_job_for(job->store, job->line, job->fn, job->arg, job->loop, job->done);
    CHECK_INT(err, OK);
    mem_free(job);
}

enum err __wrap_store_job_for(struct store *store, struct store_line line, store_fn *fn, void *arg,
                              struct loop *loop, store_done_fn *done)
{
    if (sweep_fails("store job"))
        return ERR_BUSY;
    front_doubles.writes += line.mode == STORE_WRITE;
    if (!front_doubles.holds_jobs && !front_doubles.job_delay_us)
        return __real_store_job_for(store, line, fn, arg, loop, done);
    struct held_job *job = mem_new(struct held_job);
    *job = (struct held_job){
        .store = store, .line = line, .fn = fn, .arg = arg, .loop = loop, .done = done};
    if (line.key)
        job->line.key = strncpy(job->key, line.key, sizeof(job->key) - 1);
    timer_init(&job->timer, front.control, hand_in, job);
    if (!held_jobs.next)
        list_init(&held_jobs);
    if (front_doubles.holds_jobs)
        list_push_back(&held_jobs, &job->node);
    else
        timer_set_after(&job->timer, front_doubles.job_delay_us);
    return OK;
}

void front_release(void)
{
    front_doubles.holds_jobs = false;
    for (struct held_job *job;
         held_jobs.next && (job = LIST_FIRST(&held_jobs, struct held_job, node));) {
        list_remove(&job->node);
        hand_in(job);
    }
}

/* Calls. */

static void call_done(void *arg)
{
    struct later *later = arg;
    later->told.call(later->arg, later->err, later->err ? "as the test wants it" : NULL);
    mem_free(later);
}

static void tell_call(calls_done_fn *done, void *arg, enum err err)
{
    struct later *later = later_new(call_done, arg, front_doubles.call_us);
    later->told.call = done;
    later->err = err;
}

void calls_start(struct calls *calls, struct call_plan *plan, calls_done_fn *done, void *arg)
{
    (void)calls;
    front_doubles.most_duration_s = plan->start->config.call.max_duration_s;
    call_plan_free(plan);
    front_doubles.calls_started++;
    bool is_refused = sweep_fails("call start") || front_doubles.refuses_calls;
    tell_call(done, arg, is_refused ? ERR_UNSUPPORTED : OK);
}

void calls_end(struct calls *calls, const char *workspace_id, const char *id, calls_done_fn *done,
               void *arg)
{
    (void)calls, (void)workspace_id, (void)id;
    tell_call(done, arg, sweep_fails("call end") ? ERR_IO : OK);
}

void calls_say(struct calls *calls, const char *workspace_id, const char *id, const char *text,
               calls_done_fn *done, void *arg)
{
    (void)calls, (void)workspace_id, (void)id, (void)text;
    tell_call(done, arg, sweep_fails("call say") ? ERR_LIMIT : OK);
}

struct snapshots *calls_snapshots(const struct calls *calls)
{
    static struct snapshots *snapshots;
    (void)calls;
    if (!snapshots)
        snapshots = snapshots_new();
    return snapshots;
}

bool calls_is_full(const struct calls *calls)
{
    (void)calls;
    return false;
}

void calls_preview(struct calls *calls, const struct preview_wish *wish, preview_done_fn *done,
                   void *arg)
{
    (void)calls, (void)wish;
    done(arg, ERR_BUSY, NULL);
}

/* As if every call was another node's. */
struct calls_watch *calls_watch(struct calls *calls, const char *call_id, calls_news_fn *fn,
                                void *arg)
{
    (void)calls, (void)call_id, (void)fn, (void)arg;
    return NULL;
}

void calls_unwatch(struct calls_watch *watch)
{
    (void)watch;
}

/* Tools, deliveries, names, search. */

static void tool_done(void *arg)
{
    struct later *later = arg;
    const struct tool_result good = {.is_success = true, .status = 200, .model_text = ""};
    const struct tool_result bad = {.status = 502, .model_text = "", .error = "not reached"};
    later->told.tool(later->arg, later->err ? &bad : &good);
    mem_free(later);
}

struct tool_run *tool_run_start(struct http_client *client, const struct tool_run_input *input,
                                tool_done_fn *on_done, void *arg)
{
    (void)client, (void)input;
    struct later *later = later_new(tool_done, arg, front_doubles.tool_us);
    later->told.tool = on_done;
    later->err = sweep_fails("tool run") ? ERR_IO : OK;
    return NULL;
}

static void delivered(void *arg)
{
    struct later *later = arg;
    const struct delivery_test_result result = {
        .is_ok = !later->err, .status = later->err ? 0 : 200, .error = later->err ? "no" : NULL};
    later->told.delivery(later->arg, &result);
    mem_free(later);
}

void delivery_drop(struct deliverer *delivery, const char *webhook_id)
{
    (void)delivery, (void)webhook_id;
}

void delivery_send_test(struct deliverer *delivery, const struct delivery_test *test,
                        struct loop *done_loop, delivery_test_fn *fn, void *arg)
{
    (void)delivery, (void)test, (void)done_loop;
    struct later *later = later_new(delivered, arg, 0);
    later->told.delivery = fn;
    later->err = sweep_fails("delivery") ? ERR_IO : OK;
}

const struct guard *resolver_guard(const struct resolver *resolver)
{
    return (const struct guard *)(const void *)resolver;
}

static void url_checked(void *arg)
{
    struct later *later = arg;
    struct fault fault = {.err = later->err};
    later->told.url(later->arg, &fault);
    mem_free(later);
}

void resolver_check_url(struct resolver *resolver, const char *tenant, const char *url,
                        url_check_fn *fn, void *arg)
{
    (void)resolver, (void)tenant, (void)url;
    struct later *later = later_new(url_checked, arg, 1000);
    later->told.url = fn;
    later->err = sweep_fails("name") ? ERR_IO : front_doubles.names_answer ? OK : ERR_NOT_FOUND;
}

enum err know_search(struct know *know, struct tx *tx, const struct know_question *asked,
                     unsigned limit, struct hit_list *out)
{
    (void)know, (void)asked, (void)limit;
    *out = (struct hit_list){0};
    front_doubles.searches++;
    front_doubles.searches_that_write += tx->is_write;
    return sweep_fails("search") ? ERR_IO : OK;
}

bool know_has_meaning(const struct know *know)
{
    (void)know;
    return false;
}

void know_mean(struct know *know, const char *workspace_id, const char *query, know_meant_fn *fn,
               void *arg)
{
    static const struct know_vector nobody_knows;
    (void)know, (void)workspace_id, (void)query;
    fn(arg, &nobody_knows);
}
