#include "call/node.h"

#include <stdio.h>

#include "base/list.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "call/calls_internal.h"
#include "call/recovery.h"
#include "store/store.h"

enum {
    START_MAX_US = 30 * 1000 * 1000, /* for a database that is busy or comes up */
    START_AGAIN_US = 500 * 1000,
    STOP_MAX_US = 1000 * 1000,
    COMMANDS_AT_ONCE = 20,
    ANSWER_MAX_US = 10 * 1000 * 1000,     /* that is waited for the owner's answer to a command */
    LAST_ANSWER_MAX_US = 2 * 1000 * 1000, /* and once this node stops: it is still told of it */
};

struct node {
    struct calls *calls;
    struct loop *control;
    struct store *store;
    const char *public_url;
    struct store_watch *watch;
    struct timer timer;
    bool is_shared; /* other nodes use the same database: leases and commands matter */
    bool is_started, is_stopping;
    bool is_busy; /* a start, or a renewal, is under way */
    bool is_taking;
    struct list_node asks; /* our commands whose answer is waited for */
    bool is_looking, must_look_again;
    struct recovery *recovery;
    calls_done_fn *done; /* of the start, then of the stop; NULL: told */
    void *done_arg;
    int64_t start_until_us;
    bool is_lost;           /* the lease could not be kept: no call may go on */
    int64_t lease_until_us; /* half of it: without a renewal by then the calls are let go */
};

/* A job for the commands of others, owned by the store while it runs. */
struct work {
    struct node *node;
    struct command *commands; /* of COMMANDS_AT_ONCE; copies */
    size_t command_count;
    int64_t command_id;
    enum err result;
};

static struct work *work_new(struct node *node)
{
    struct work *work = mem_new(struct work);
    work->node = node;
    return work;
}

static void commands_free(struct work *work)
{
    for (size_t i = 0; i < work->command_count; i++)
        mem_free((char *)work->commands[i].text);
    mem_free(work->commands);
    work->commands = NULL;
    work->command_count = 0;
}

static void work_free(struct work *work)
{
    commands_free(work);
    mem_free(work);
}

static void run(struct work *work, store_fn *fn, store_done_fn *done)
{
    struct store_line line = {.mode = STORE_WRITE, .lane = STORE_OWN};
    if (store_job_for(work->node->store, line, fn, work, work->node->control, done) != OK)
        done(work, ERR_BUSY);
}

/* A job of the node itself. */
static void run_for(struct node *node, enum store_lane lane, store_fn *fn, store_done_fn *done)
{
    struct store_line line = {.mode = STORE_WRITE, .lane = lane};
    if (store_job_for(node->store, line, fn, node, node->control, done) != OK)
        done(node, ERR_BUSY);
}

/* Commands of others for our calls. */

static enum err take_job(struct tx *tx, void *arg)
{
    struct work *work = arg;
    struct command *commands = NULL;
    size_t count = 0;
    commands_free(work); /* of an attempt before */
    enum err err = store_command_take(tx, COMMANDS_AT_ONCE, &commands, &count);
    if (err)
        return err;
    work->commands = mem_new_n(struct command, count + 1);
    for (size_t i = 0; i < count; i++) {
        work->commands[i] = commands[i];
        work->commands[i].text = mem_strdup(commands[i].text);
    }
    work->command_count = count;
    return OK;
}

static enum err answer_job(struct tx *tx, void *arg)
{
    const struct work *work = arg;
    return store_command_answer(tx, work->command_id, work->result);
}

static void on_answered(void *arg, enum err err)
{
    if (err)
        log_warn("node.answer_lost", LOG_S("error", err_name(err)));
    work_free(arg);
}

static void on_carried_out(void *arg, enum err err, const char *message)
{
    struct work *work = arg;
    (void)message;
    work->result = err;
    run(work, answer_job, on_answered);
}

static void carry_out(struct node *node, const struct command *command)
{
    struct work *work = work_new(node);
    const char *id = command->call_id;
    work->command_id = command->id;
    bool is_here = command->kind == COMMAND_END
                       ? calls_end_here(node->calls, id, on_carried_out, work)
                       : calls_say_here(node->calls, id, command->text, on_carried_out, work);
    if (!is_here)
        on_carried_out(work, ERR_NOT_FOUND, NULL);
}

static void on_change(void *arg, unsigned topics);

static void on_taken(void *arg, enum err err)
{
    struct work *work = arg;
    struct node *node = work->node;
    node->is_taking = false;
    for (size_t i = 0; !err && i < work->command_count; i++)
        carry_out(node, &work->commands[i]);
    if (!err && work->command_count == COMMANDS_AT_ONCE)
        on_change(node, STORE_COMMANDS); /* there may be more */
    work_free(work);
}

static void look_for_answers(struct node *node);

static void on_change(void *arg, unsigned topics)
{
    struct node *node = arg;
    if (topics & STORE_BALANCE)
        calls_credit(node->calls, NULL);
    if (topics & STORE_COMMANDS)
        look_for_answers(node);
    bool is_ready = node->is_shared && node->is_started && !node->is_stopping;
    if (!(topics & STORE_COMMANDS) || !is_ready || node->is_taking)
        return;
    node->is_taking = true;
    run(work_new(node), take_job, on_taken);
}

/* The lease. */

static enum err renew_job(struct tx *tx, void *arg)
{
    (void)arg;
    return store_node_renew(tx);
}

static void lose(struct node *node, enum err err)
{
    if (node->is_lost)
        return;
    node->is_lost = true;
    log_error("node.lease_lost", LOG_S("error", err_name(err)));
    calls_end_all(node->calls, END_AGENT_SHUTDOWN);
}

/* Half of it, by our own clock: others wait for the whole of it by theirs. */
static void hold(struct node *node)
{
    node->lease_until_us = loop_now_us(node->control) + NODE_LEASE_MS * INT64_C(1000) / 2;
    node->is_lost = false;
}

static enum err start_job(struct tx *tx, void *arg);
static void on_started_again(void *arg, enum err err);

/* ERR_DENIED: others took this process for dead and end its calls. We begin again as a new epoch,
 * which fences off what is left of the old one. */
static void on_renewed(void *arg, enum err err)
{
    struct node *node = arg;
    node->is_busy = false;
    if (node->is_stopping)
        return;
    if (!err) {
        hold(node);
        recovery_look(node->recovery);
    } else if (err == ERR_DENIED) {
        lose(node, err);
        node->is_busy = true;
        run_for(node, STORE_OWN, start_job, on_started_again);
    }
}

static void on_started_again(void *arg, enum err err)
{
    struct node *node = arg;
    node->is_busy = false;
    if (!err && !node->is_stopping)
        hold(node);
}

/* A renewal that is under way may be waiting for a database that is away. */
static void tick(void *arg)
{
    struct node *node = arg;
    timer_set_after(&node->timer, NODE_RENEW_MS * INT64_C(1000));
    on_change(node, STORE_COMMANDS); /* a lost notice costs a second, not the command */
    if (node->lease_until_us && loop_now_us(node->control) >= node->lease_until_us)
        lose(node, ERR_TIMEOUT);
    if (node->is_busy)
        return;
    node->is_busy = true;
    run_for(node, STORE_LEASE, renew_job, on_renewed);
}

/* Start and stop. */

static enum err start_job(struct tx *tx, void *arg)
{
    const struct node *node = arg;
    return store_node_start(tx, node->public_url);
}

static void answer(struct node *node, enum err err, const char *message)
{
    calls_done_fn *done = node->done;
    node->done = NULL;
    if (done)
        done(node->done_arg, err, message);
}

static void on_recovered(void *arg)
{
    answer(arg, OK, NULL);
}

static void begin(void *arg);

/* Without a new epoch no call could be owned: the one thing that a start cannot be without. */
static void on_started(void *arg, enum err err)
{
    struct node *node = arg;
    node->is_busy = false;
    if (node->is_stopping)
        return;
    if (err && loop_now_us(node->control) < node->start_until_us) {
        timer_init(&node->timer, node->control, begin, node);
        timer_set_after(&node->timer, START_AGAIN_US);
    } else if (err) {
        answer(node, err, "the database cannot be written");
    } else {
        node->is_started = true;
        hold(node);
        timer_init(&node->timer, node->control, tick, node);
        if (node->is_shared)
            tick(node);
        recovery_start(node->recovery, on_recovered, node);
    }
}

static void begin(void *arg)
{
    struct node *node = arg;
    node->is_busy = true;
    run_for(node, STORE_OWN, start_job, on_started);
}

void node_start(struct node *node, calls_done_fn *done, void *arg)
{
    node->done = done;
    node->done_arg = arg;
    node->start_until_us = loop_now_us(node->control) + START_MAX_US;
    node->watch =
        store_watch(node->store, STORE_BALANCE | STORE_COMMANDS, node->control, on_change, node);
    begin(node);
}

static enum err stop_job(struct tx *tx, void *arg)
{
    (void)arg;
    return store_node_stop(tx);
}

/* Told once: by the job, or when it takes too long. */
static void on_stop_limit(void *arg)
{
    struct node *node = arg;
    timer_stop(&node->timer);
    answer(node, OK, NULL);
}

static void on_stopped(void *arg, enum err err)
{
    if (err)
        log_warn("node.stop", LOG_S("error", err_name(err)));
    on_stop_limit(arg);
}

static void hurry_asks(struct node *node);

void node_stop(struct node *node, calls_done_fn *done, void *arg)
{
    timer_stop(&node->timer);
    recovery_stop(node->recovery);
    node->is_stopping = true;
    hurry_asks(node);
    node->done = done; /* a start that is under way is told nothing any more */
    node->done_arg = arg;
    timer_init(&node->timer, node->control, on_stop_limit, node);
    timer_set_after(&node->timer, STOP_MAX_US);
    run_for(node, STORE_OWN, stop_job, on_stopped);
}

const char *node_other_url(const struct node *node, size_t i)
{
    return recovery_other_url(node->recovery, i);
}

/* Our commands for others.
 *
 *   ask_job: the row --commit--> in node->asks --answered or too late--> told, freed
 *
 * Whatever changes the rows of commands rings STORE_COMMANDS; then one read finds the answers to
 * all that wait. A lost notice costs a second (tick()). */

struct ask {
    struct node *node;
    struct list_node waiting; /* in node->asks, from the commit on */
    struct timer timer;
    enum command_kind kind;
    char call_id[ID_SIZE];
    char *text;
    int64_t command_id;
    enum err refusal;
    calls_done_fn *done;
    void *arg;
};

static void ask_free(struct ask *ask)
{
    timer_stop(&ask->timer);
    list_remove(&ask->waiting);
    mem_free(ask->text);
    mem_free(ask);
}

static void finish(struct ask *ask, enum err err)
{
    calls_done_fn *done = ask->done;
    void *arg = ask->arg;
    ask_free(ask);
    done(arg, err, NULL);
}

struct look {
    struct node *node;
    int64_t from_id;
    struct command_answer_list answers; /* in the job's arena */
};

static enum err look_job(struct tx *tx, void *arg)
{
    struct look *look = arg;
    return store_command_answers(tx, look->from_id, &look->answers);
}

/* Several may have asked for the same end. */
static void tell_answer(struct node *node, const struct command_answer *answer)
{
    struct ask *ask;
    LIST_EACH (ask, &node->asks, struct ask, waiting)
        if (ask->command_id == answer->id)
            finish(ask, answer->result);
}

static void on_looked(void *arg, enum err err)
{
    struct look *look = arg;
    struct node *node = look->node;
    node->is_looking = false;
    for (size_t i = 0; !err && i < look->answers.count; i++)
        tell_answer(node, &look->answers.items[i]);
    mem_free(look);
    if (node->must_look_again)
        look_for_answers(node);
}

static void look_for_answers(struct node *node)
{
    struct store_line line = {.mode = STORE_READ, .lane = STORE_OWN};
    struct ask *ask;
    node->must_look_again = node->is_looking;
    if (node->is_looking || list_is_empty(&node->asks))
        return;
    struct look *look = mem_new(struct look);
    *look = (struct look){.node = node, .from_id = INT64_MAX};
    LIST_EACH (ask, &node->asks, struct ask, waiting)
        look->from_id = MIN(look->from_id, ask->command_id);
    node->is_looking = true;
    if (store_job_for(node->store, line, look_job, look, node->control, on_looked) == OK)
        return;
    node->is_looking = false; /* tick() looks again */
    mem_free(look);
}

static void on_too_late(void *arg)
{
    finish(arg, ERR_TIMEOUT);
}

/* Whoever asked is told before the connections are closed. */
static void hurry_asks(struct node *node)
{
    int64_t until_us = loop_now_us(node->control) + LAST_ANSWER_MAX_US;
    struct ask *ask;
    LIST_EACH (ask, &node->asks, struct ask, waiting)
        if (ask->timer.due_us > until_us)
            timer_set(&ask->timer, until_us);
}

static enum err ask_job(struct tx *tx, void *arg)
{
    struct ask *ask = arg;
    return store_command_ask(tx, ask->kind, ask->call_id, ask->text, &ask->command_id);
}

/* The answer may have come before this: its notice found nobody waiting. */
static void on_asked(void *arg, enum err err)
{
    struct ask *ask = arg;
    struct node *node = ask->node;
    if (err) {
        finish(ask, err);
        return;
    }
    timer_set_after(&ask->timer, node->is_stopping ? LAST_ANSWER_MAX_US : ANSWER_MAX_US);
    list_push_back(&node->asks, &ask->waiting);
    look_for_answers(node);
}

static void refuse(void *arg)
{
    struct ask *ask = arg;
    finish(ask, ask->refusal);
}

/* Never from inside node_command(). */
static void refuse_later(struct ask *ask, enum err err)
{
    ask->refusal = err;
    loop_defer(ask->node->control, refuse, ask);
}

void node_command(struct node *node, const struct node_command *command, calls_done_fn *done,
                  void *arg)
{
    struct ask *ask = mem_new(struct ask);
    *ask = (struct ask){.node = node, .kind = command->kind, .done = done, .arg = arg};
    ask->text = mem_strdup(command->text);
    snprintf(ask->call_id, sizeof(ask->call_id), "%s", command->call_id);
    timer_init(&ask->timer, node->control, on_too_late, ask);
    if (!node->is_shared) {
        refuse_later(ask, ERR_NOT_FOUND);
        return;
    }
    /* In the line of the workspace and with a request's patience: it is part of a request. */
    struct store_line line = {
        .key = command->workspace_id, .mode = STORE_WRITE, .lane = STORE_REQUESTS};
    if (store_job_for(node->store, line, ask_job, ask, node->control, on_asked) != OK)
        refuse_later(ask, ERR_BUSY);
}

struct node *node_new(struct calls *calls, const struct calls_config *config)
{
    struct node *node = mem_new(struct node);
    node->calls = calls;
    node->control = config->control;
    node->store = config->store;
    node->public_url = config->public_url;
    node->is_shared = store_is_postgres(config->store);
    node->recovery = recovery_new(config->store, config->control, node->is_shared);
    list_init(&node->asks);
    timer_init(&node->timer, config->control, tick, node);
    return node;
}

void node_free(struct node *node)
{
    timer_stop(&node->timer);
    for (struct ask *ask; (ask = LIST_FIRST(&node->asks, struct ask, waiting));)
        ask_free(ask); /* who asked has gone before */
    recovery_free(node->recovery);
    if (node->watch)
        store_unwatch(node->watch);
    mem_free(node);
}
