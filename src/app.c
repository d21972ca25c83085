/* Builds the service out of its layers, in the order of the table below, runs it, and takes it
 * apart the other way round. Whoever wants to know what depends on what reads this page. */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "net/addr.h"
#include "net/http_server.h"
#include "net/tls.h"

static enum err open_control(struct app *app, struct fault *fault)
{
    (void)fault;
    app->control = loop_new("control");
    return OK;
}

static void close_control(struct app *app)
{
    loop_free(app->control);
}

/* The URL that clients reach this node by, when the operator names none. */
static void make_public_url(struct app *app, struct net_addr address)
{
    struct net_addr own;
    uint16_t port = address.port;
    if (net_addr_is_any(&address) && net_local_addresses(&own, 1) == 1)
        address = own;
    address.port = port;
    char text[NET_ADDR_SIZE];
    net_addr_print(&address, text);
    const char *given = config_text(app->config, SET_PUBLIC_URL);
    if (*given)
        snprintf(app->public_url, sizeof app->public_url, "%s", given);
    else
        snprintf(app->public_url, sizeof app->public_url, "%s://%s", app->tls ? "https" : "http",
                 text);
}

static enum err open_http(struct app *app, struct fault *fault)
{
    struct http_server_config server = {.spool_dir = config_text(app->config, SET_DATA)};
    const char *listen = config_text(app->config, SET_LISTEN);
    if (net_addr_parse(listen, &server.bind))
        return fault_set(fault, ERR_INVALID, "service.listen: '%.80s' is no address:port", listen);
    enum err err = app_tls_open(app, &server.bind, fault);
    server.tls = app->tls;
    if (!err)
        err = http_server_open(app->control, &server, &app_front, app, &app->http, fault);
    if (err)
        tls_context_free(app->tls);
    else
        make_public_url(app, http_server_address(app->http));
    return err;
}

static void close_http(struct app *app)
{
    http_server_close(app->http);
    tls_context_free(app->tls);
}

/* In the order of building. */
static const struct part {
    enum err (*open)(struct app *app, struct fault *fault);
    void (*close)(struct app *app);
} parts[] = {
    {open_control, close_control},
    {app_signals_open, app_signals_close},
    {open_http, close_http},
    {app_show_open, app_show_close},
};

static enum err open_parts(struct app *app, struct fault *fault)
{
    enum err err = OK;
    while (app->opened < ARRAY_LEN(parts) && !err) {
        err = parts[app->opened].open(app, fault);
        app->opened += !err;
    }
    return err;
}

static void close_parts(struct app *app)
{
    while (app->opened > 0)
        parts[--app->opened].close(app);
}

static void set_log(const struct config *config)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    enum log_level level = LOG_DEBUG;
    while (strcmp(levels[level], config_text(config, SET_LOG_LEVEL)) != 0)
        level++;
    bool is_json = strcmp(config_text(config, SET_LOG_FORMAT), "json") == 0;
    log_set(level, is_json ? LOG_JSON : LOG_LOGFMT, 2);
}

void app_drain(struct app *app)
{
    app->state = APP_STOPPING;
    loop_stop(app->control);
}

int app_serve(const struct config *config)
{
    struct app app = {.config = config, .started_us = clock_now_us()};
    struct fault fault = {0};
    set_log(config);
    enum err err = open_parts(&app, &fault);
    if (!err) {
        printf("Earshot %s listening on %s\n", EARSHOT_VERSION, app.public_url);
        fflush(stdout);
        app.state = APP_SERVING;
        loop_run(app.control);
    }
    close_parts(&app);
    if (err)
        log_error("service.start", LOG_S("fault", fault.text));
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
