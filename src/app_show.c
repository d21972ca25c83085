/* What `earshot show` is told. */
#include "app.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/js.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "cli/show_socket.h"
#include "net/http_server.h"
#include "room/directory.h"
#include "store/store.h"

static const char *state_name(enum app_state state)
{
    static const char *const names[] = {
        [APP_STARTING] = "starting",
        [APP_SERVING] = "serving",
        [APP_DRAINING] = "draining",
        [APP_STOPPING] = "stopping",
    };
    return names[state];
}

static struct js *loop_tree(const struct loop *loop)
{
    struct loop_stats stats;
    struct js *tree = js_object();
    loop_stats(loop, &stats);
    js_set(tree, "name", js_string(loop_name(loop)));
    js_set(tree, "turns", js_integer((int64_t)stats.turns));
    js_set(tree, "slowCallbacks", js_integer((int64_t)stats.slow_callbacks));
    js_set(tree, "longestUs", js_integer(stats.longest_us));
    return tree;
}

static struct js *service_tree(const struct app *app)
{
    struct js *tree = js_object();
    js_set(tree, "version", js_string(EARSHOT_VERSION));
    js_set(tree, "state", js_string(state_name(app->state)));
    js_set(tree, "upSeconds", js_integer((clock_now_us() - app->started_us) / 1000000));
    js_set(tree, "publicUrl", js_string(app->public_url));
    js_set(tree, "isFull", js_boolean(calls_is_full(app->calls)));
    js_set(tree, "callsLowered", js_integer(metric_read(METRIC_CALLS_LOWERED)));
    js_set(tree, "callsRefused", js_integer(metric_read(METRIC_CALLS_REFUSED)));
    js_set(tree, "rooms", js_integer(room_directory_count(app->rooms)));
    js_set(tree, "database", js_string(store_is_up(app->store) ? "up" : "away"));
    js_set(tree, "node", js_string(store_node(app->store)));
    if (app->http)
        js_set(tree, "connections", js_integer((int64_t)http_server_connections(app->http)));
    return tree;
}

static struct js *loops_tree(const struct app *app)
{
    struct js *loops = js_array();
    js_push(loops, loop_tree(app->control));
    js_push(loops, loop_tree(app->delivery_loop));
    for (size_t i = 0; i < app->media_count; i++)
        js_push(loops, loop_tree(app->media[i].loop));
    return loops;
}

/* One `earshot show` while the calls' loops are asked. */
struct showing {
    const struct app *app;
    struct show_client *client;
};

static void on_calls(void *arg, struct js *take_tree)
{
    struct showing *showing = arg;
    struct js *tree = js_object();
    js_set(tree, "service", service_tree(showing->app));
    js_set(tree, "loops", loops_tree(showing->app));
    js_set(tree, "calls", take_tree);
    show_answer(showing->client, tree);
    mem_free(showing);
}

static void on_show(void *arg, struct show_client *client)
{
    struct app *app = arg;
    struct showing *showing = mem_new(struct showing);
    *showing = (struct showing){app, client};
    calls_show(app->calls, on_calls, showing);
}

enum err app_show_open(struct app *app, struct fault *fault)
{
    return show_socket_open(app->control, config_text(app->config, SET_DATA), on_show, app,
                            &app->show, fault);
}

void app_show_close(struct app *app)
{
    show_socket_close(app->show);
}
