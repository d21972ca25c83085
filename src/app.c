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
#include "base/log.h"
#include "event/delivery.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/resolver.h"

enum {
    IDLE_POLL_US = 10 * 1000,
    IDLE_MOST_US = 5 * 1000 * 1000, /* what a slow client gets for its last answer */
};

static void set_log(const struct config *config)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    enum log_level level = LOG_DEBUG;
    while (strcmp(levels[level], config_text(config, SET_LOG_LEVEL)) != 0)
        level++;
    bool is_json = strcmp(config_text(config, SET_LOG_FORMAT), "json") == 0;
    log_set(level, is_json ? LOG_JSON : LOG_LOGFMT, 2);
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
    loop_stop(app->control);
}

/* Lets the last answers go out; then cuts who does not read, whose requests are answered into the
 * void. */
static void wait_for_answers(void *arg)
{
    struct app *app = arg;
    bool is_late = loop_now_us(app->control) > app->stopping_us + IDLE_MOST_US;
    if (is_late) { /* who waits for a tenant's endpoint or host name waits no more */
        http_client_stop(app->http_client);
        resolver_stop(app->resolver);
    }
    if (app->http && (is_late || http_server_connections(app->http) == 0))
        http_server_close(TAKE(app->http));
    if (!app->http && api_is_idle(app->api))
        stop_loop(app);
    else
        timer_set_after(&app->idle_timer, IDLE_POLL_US);
}

static void delivery_settled(void *arg)
{
    struct app *app = arg;
    app->stopping_us = loop_now_us(app->control);
    wait_for_answers(app);
}

static void on_delivery_stopped(void *arg) /* on the delivery loop */
{
    struct app *app = arg;
    loop_post(app->control, delivery_settled, app);
}

static void stop_delivery(void *arg)
{
    struct app *app = arg;
    delivery_stop(app->delivery, on_delivery_stopped, app);
}

static void on_calls_over(void *arg, enum err err, const char *message)
{
    struct app *app = arg;
    if (err)
        log_error("service.drain", LOG_S("fault", message ? message : err_name(err)));
    app->state = APP_STOPPING;
    http_server_drain(app->http);
    loop_post(app->delivery_loop, stop_delivery, app);
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
    calls_drain(app->calls, grace_s * 1000000, on_calls_over, app);
}

/* Starting. */

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
    log_info("service.start", LOG_S("version", EARSHOT_VERSION), LOG_S("url", app->public_url),
             LOG_I("loops", (int64_t)app->media_count));
    printf("Earshot %s listening on %s\n", EARSHOT_VERSION, app->public_url);
    if (app->demo_url[0])
        printf("\nTalk with the demo agent: %s\n\n", app->demo_url);
    fflush(stdout);
}

static enum err start_threads(struct app *app, struct fault *fault)
{
    enum err err = loop_start(app->delivery_loop);
    for (size_t i = 0; i < app->media_count && !err; i++)
        err = loop_start(app->media[i].loop);
    return err ? fault_set(fault, err, "cannot start a thread") : OK;
}

static void join_threads(struct app *app)
{
    for (size_t i = 0; i < app->media_count; i++)
        loop_join(app->media[i].loop);
    loop_join(app->delivery_loop);
}

static enum err run(struct app *app, struct fault *fault)
{
    enum err err = app->has_demo ? app_demo(app, fault) : OK;
    if (!err)
        err = start_threads(app, fault);
    if (!err) {
        timer_init(&app->idle_timer, app->control, wait_for_answers, app);
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
