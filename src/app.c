/* Runs the service: start, drain, end.
 *
 *   parts open -> calls of a dead process are ended -> "listening" -> ... -> SIGTERM -> calls over
 *     -> no more connections, webhooks settled, last answers out -> loops end -> parts close
 */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "api/api.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/enum.h"
#include "base/log.h"
#include "base/sandbox.h"
#include "event/delivery.h"
#include "know/know.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "store/store.h"

enum {
    IDLE_POLL_US = 10 * 1000,
    END_LOOK_US = 100 * 1000,
    SETTLE_MAX_US = 4 * 1000 * 1000, /* for what is written and sent after the calls; deliveries
                                        under way get 3 s of it (event/delivery.h) */
    STORE_MAX_US = 1000 * 1000,      /* then for the jobs of the store that still wait */
    IDLE_MAX_US = 500 * 1000,        /* then for who reads a last answer slowly */
    CUT_AFTER_S = 10,                /* in all, from the end of the calls or of their grace */
};

static void set_log(const struct config *config)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    int level = enum_find(levels, ARRAY_LEN(levels), config_text(config, SET_LOG_LEVEL));
    bool is_json = strcmp(config_text(config, SET_LOG_FORMAT), "json") == 0;
    log_set((enum log_level)level, is_json ? LOG_JSON : LOG_LOGFMT, 2);
}

/* A call holds several descriptors: take all that the system grants. */
static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* Ending: each step begins the next one. */

static void stop_loop(struct app *app)
{
    log_info("service.end");
    timer_stop(&app->end.timer);
    loop_stop(app->control);
}

static void on_store_drained(void *arg)
{
    struct app *app = arg;
    app->end.is_store_drained = true;
}

/* All that asked the store is told before any of it goes. A start that was committed late may have
 * made a call: it ends without a record. */
static void drain_store(struct app *app)
{
    if (app->end.is_store_draining)
        return;
    app->end.is_store_draining = true;
    calls_give_up(app->calls);
    store_drain(app->store, STORE_MAX_US, app->control, on_store_drained, app);
}

/* Lets the last answers go out, those of who waited for the store to the last as well; then cuts
 * who does not read, whose requests are answered into the void. */
static void wait_for_answers(void *arg)
{
    struct app *app = arg;
    int64_t late_us = loop_now_us(app->control) - app->end.ending_us - SETTLE_MAX_US;
    if (late_us > 0) { /* who waits for a tenant's endpoint or host name waits no more */
        http_client_stop(app->net.http);
        resolver_stop(app->net.resolver);
    }
    if (app->http &&
        (late_us > STORE_MAX_US + IDLE_MAX_US || http_server_connections(app->http) == 0))
        http_server_close(TAKE(app->http));
    if (!app->http && api_is_idle(app->api))
        drain_store(app);
    if (!app->http && api_is_idle(app->api) && app->end.is_store_drained)
        stop_loop(app);
    else
        timer_set_after(&app->end.idle_timer, IDLE_POLL_US);
}

/* The calls or their grace are over. */
static void begin_end(struct app *app)
{
    if (app->end.ending_us)
        return;
    app->end.ending_us = loop_now_us(app->control);
    app_signals_cut_after(CUT_AFTER_S);
}

/* From the first signal on. When the calls or their grace are over, all else gets its time; what
 * then still waits for the database is given up, and in the end the process is cut. */
static void watch_end(void *arg)
{
    struct app *app = arg;
    int64_t now_us = loop_now_us(app->control);
    if (calls_count(app->calls) == 0 || now_us >= app->end.grace_until_us)
        begin_end(app);
    if (app->end.ending_us && now_us >= app->end.ending_us + SETTLE_MAX_US)
        drain_store(app);
    timer_set_after(&app->end.timer, END_LOOK_US);
}

static void on_delivery_stopped(void *arg) /* on the delivery loop */
{
    struct app *app = arg;
    loop_post(app->control, wait_for_answers, app);
}

static void stop_delivery(void *arg)
{
    struct app *app = arg;
    delivery_stop(app->delivery.deliverer, on_delivery_stopped, app);
}

static void on_calls_over(void *arg, enum err err, const char *message)
{
    struct app *app = arg;
    if (err)
        log_error("service.drain", LOG_S("fault", message ? message : err_name(err)));
    app->state = APP_STOPPING;
    begin_end(app);
    know_stop(app->know);
    http_server_drain(app->http);
    api_drain(app->api);
    loop_post(app->delivery.loop, stop_delivery, app);
}

void app_drain(struct app *app)
{
    bool is_first = app->state <= APP_SERVING;
    int64_t grace_s = is_first ? config_int(app->config, SET_DRAIN_GRACE) : 0;
    if (app->state == APP_STOPPING)
        return;
    app->state = APP_DRAINING;
    log_info("service.drain", LOG_I("calls", (int64_t)calls_count(app->calls)),
             LOG_I("grace_s", grace_s));
    app->end.grace_until_us = loop_now_us(app->control) + grace_s * 1000000;
    watch_end(app);
    calls_drain(app->calls, grace_s * 1000000, on_calls_over, app);
}

/* Starting. */

/* Files and embedded speech are read by processes that the kernel may be too old to lock in. */
static void warn_of_sandbox(void)
{
    struct sandbox_state can = sandbox_support();
    if (!can.has_paths || !can.has_filter)
        log_warn("service.sandbox", LOG_S("landlock", can.has_paths ? "yes" : "missing"),
                 LOG_S("seccomp", can.has_filter ? "yes" : "missing"));
}

static void on_recovered(void *arg, enum err err, const char *message)
{
    struct app *app = arg;
    if (err) {
        log_error("service.start", LOG_S("fault", message ? message : err_name(err)));
        app->has_failed = true;
        app_drain(app);
        return;
    }
    if (app->state != APP_STARTING)
        return;
    app->state = APP_SERVING;
    log_info("service.start", LOG_S("version", EARSHOT_VERSION), LOG_S("url", app->urls.own),
             LOG_I("loops", (int64_t)app->media_count));
    warn_of_sandbox();
    printf("Earshot %s listening on %s\n", EARSHOT_VERSION, app->urls.own);
    if (app->urls.demo[0])
        printf("\nTalk with the demo agent: %s\n"
               "The studio (signs in once, within 15 minutes): %s\n\n",
               app->urls.demo, app->urls.studio);
    fflush(stdout);
}

static enum err start_threads(struct app *app, struct fault *fault)
{
    enum err err = loop_start(app->delivery.loop);
    for (size_t i = 0; i < app->media_count && !err; i++)
        err = loop_start(app->media[i].loop);
    return err ? fault_set(fault, err, "cannot start a thread") : OK;
}

static void join_threads(struct app *app)
{
    for (size_t i = 0; i < app->media_count; i++)
        loop_join(app->media[i].loop);
    loop_join(app->delivery.loop);
}

static enum err run(struct app *app, struct fault *fault)
{
    enum err err = app->has_demo ? app_demo(app, fault) : OK;
    if (!err)
        err = start_threads(app, fault);
    if (!err) {
        timer_init(&app->end.idle_timer, app->control, wait_for_answers, app);
        timer_init(&app->end.timer, app->control, watch_end, app);
        calls_recover(app->calls, on_recovered, app);
        loop_run(app->control);
    }
    join_threads(app);
    return err;
}

int app_serve(const struct config *config, bool has_demo)
{
    struct app app = {.config = config, .has_demo = has_demo, .started_us = clock_now_us()};
    struct fault fault = {0};
    set_log(config);
    raise_file_limit();
    enum err err = app_open_parts(&app, &fault);
    if (!err)
        err = run(&app, &fault);
    app_close_parts(&app);
    if (err)
        log_error("service.start", LOG_S("fault", fault.text));
    return err || app.has_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
