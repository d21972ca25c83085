/* What `earshot show` is told. */
#include "app.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/js.h"
#include "cli/show_socket.h"
#include "net/http_server.h"

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
    js_set(tree, "connections", js_integer((int64_t)http_server_connections(app->http)));
    return tree;
}

static void on_show(void *arg, struct show_client *client)
{
    const struct app *app = arg;
    struct js *tree = js_object(), *loops = js_array();
    js_push(loops, loop_tree(app->control));
    js_set(tree, "service", service_tree(app));
    js_set(tree, "loops", loops);
    show_answer(client, tree);
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
