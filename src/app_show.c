/* What `earshot show` is told. */
#include "app.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/js.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "cli/show_socket.h"
#include "engine/registry.h"
#include "net/http_server.h"
#include "room/directory.h"
#include "store/dead_letter.h"
#include "store/store.h"

enum {
    DEAD_LETTERS_SHOWN = 10,
    NAMES_MAX_BYTES = 1024,
    DATABASE_PATIENCE_US = 1000 * 1000,
};

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
    js_set(tree, "publicUrl", js_string(app->urls.own));
    js_set(tree, "isFull", js_boolean(calls_is_full(app->calls)));
    js_set(tree, "callsLowered", js_integer(metric_read(METRIC_CALLS_LOWERED)));
    js_set(tree, "callsRefused", js_integer(metric_read(METRIC_CALLS_REFUSED)));
    AUTO_BUF left_out = BUF_INIT(NAMES_MAX_BYTES);
    registry_left_out(app->engines.registry, clock_now_us(), &left_out);
    js_set(tree, "enginesLeftOut", js_string(left_out.len ? left_out.data : ""));
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
    js_push(loops, loop_tree(app->delivery.loop));
    for (size_t i = 0; i < app->media_count; i++)
        js_push(loops, loop_tree(app->media[i].loop));
    return loops;
}

/* One `earshot show`: first the calls' loops are asked, then the store for what was set aside. Who
 * asks does so when the database is away, too: without its answer in time it goes unsaid. One that
 * the service's end overtakes is answered then, and freed when who was asked last comes back. */
struct showing {
    struct list_node node;
    struct app *app;
    struct show_client *client; /* NULL: answered */
    struct js *tree, *dead_letters;
    struct timer patience;
};

static void showing_free(struct showing *showing)
{
    js_free(showing->dead_letters);
    mem_free(showing);
}

static void answer(struct showing *showing, struct js *take_dead_letters)
{
    timer_stop(&showing->patience);
    list_remove(&showing->node);
    js_set(showing->tree, "deadLetters", take_dead_letters);
    show_answer(TAKE(showing->client), TAKE(showing->tree));
}

static void answer_without(void *arg)
{
    answer(arg, js_null());
}

static void set_time(struct js *object, const char *key, int64_t wall_ms)
{
    char text[CLOCK_ISO_SIZE];
    clock_iso(wall_ms, text);
    js_set(object, key, js_string(text));
}

static struct js *dead_letter_tree(const struct dead_letter *letter)
{
    struct js *tree = js_object();
    js_set(tree, "kind", js_string(dead_letter_kind_names[letter->kind]));
    js_set(tree, "workspace", js_string(letter->workspace_id));
    js_set(tree, "subject", js_string(letter->subject_id));
    js_set(tree, "reason", js_string(letter->reason));
    js_set(tree, "count", js_integer(letter->count));
    set_time(tree, "lastAt", letter->last_wall_ms);
    return tree;
}

/* Store thread. */
static enum err read_dead_letters(struct tx *tx, void *arg)
{
    struct showing *showing = arg;
    struct dead_letter_counts counts;
    struct dead_letter_list newest;
    enum err err = store_dead_letters(tx, DEAD_LETTERS_SHOWN, &counts, &newest);
    if (err)
        return err;
    js_free(showing->dead_letters);
    struct js *tree = showing->dead_letters = js_object(), *list = js_array();
    for (int i = 0; i < DEAD_LETTER_KIND_COUNT; i++)
        js_set(tree, dead_letter_kind_names[i], js_integer(counts.of_kind[i]));
    for (size_t i = 0; i < newest.count; i++)
        js_push(list, dead_letter_tree(&newest.items[i]));
    js_set(tree, "newest", list);
    return OK;
}

static void on_dead_letters(void *arg, enum err err)
{
    struct showing *showing = arg;
    if (showing->client)
        answer(showing, err ? js_null() : TAKE(showing->dead_letters));
    showing_free(showing);
}

static void on_calls(void *arg, struct js *take_tree)
{
    struct showing *showing = arg;
    struct app *app = showing->app;
    if (!showing->client) {
        js_free(take_tree);
        showing_free(showing);
        return;
    }
    js_set(showing->tree, "calls", take_tree);
    timer_set_after(&showing->patience, DATABASE_PATIENCE_US);
    if (store_job(app->store, STORE_READ, read_dead_letters, showing, app->control,
                  on_dead_letters) != OK)
        on_dead_letters(showing, ERR_BUSY);
}

static void on_show(void *arg, struct show_client *client)
{
    struct app *app = arg;
    struct showing *showing = mem_new(struct showing);
    showing->app = app;
    showing->client = client;
    showing->tree = js_object();
    js_set(showing->tree, "service", service_tree(app));
    js_set(showing->tree, "loops", loops_tree(app));
    list_push_back(&app->showing.waiting, &showing->node);
    timer_init(&showing->patience, app->control, answer_without, showing);
    calls_show(app->calls, on_calls, showing);
}

enum err app_show_open(struct app *app, struct fault *fault)
{
    list_init(&app->showing.waiting);
    return show_socket_open(app->control, config_text(app->config, SET_DATA), on_show, app,
                            &app->showing.socket, fault);
}

void app_show_close(struct app *app)
{
    struct showing *showing;
    while ((showing = LIST_FIRST(&app->showing.waiting, struct showing, node)))
        answer(showing, js_null());
    show_socket_close(app->showing.socket);
}
