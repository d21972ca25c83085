/* Who answers which path: the rooms, the pages, and the API all else. */
#include <string.h>

#include "api/api.h"
#include "app.h"
#include "net/http_server.h"
#include "room/directory.h"
#include "studio/pages.h"

/* "/rtc" and all below it; clients that join with "ws://host/" send a double slash. */
static bool is_room_path(const char *path)
{
    path += strspn(path, "/");
    return strncmp(path, "rtc", 3) == 0 && (path[3] == '\0' || path[3] == '/');
}

static const char *node_url(const void *arg, size_t i)
{
    return calls_node_url(((const struct app *)arg)->calls, i);
}

/* Pages answer at the head, rooms have no body: both need nothing of it. */
static void on_head(void *arg, struct http_exchange *exchange)
{
    struct app *app = arg;
    static const struct http_body_choice none = {.form = HTTP_BODY_DROP};
    const struct pages_rooms rooms = {.url = node_url, .arg = app};
    if (is_room_path(http_exchange_request(exchange)->path))
        http_body_want(exchange, &none);
    else if (!pages_answer(exchange, &rooms))
        api_on_head(app->api, exchange);
}

static void on_request(void *arg, struct http_exchange *exchange)
{
    struct app *app = arg;
    if (!is_room_path(http_exchange_request(exchange)->path))
        api_on_request(app->api, exchange);
    else if (!room_admit(app->rooms, exchange))
        http_answer_error(exchange, 404, "NOT_FOUND", "There is no such thing here.");
}

static void on_gone(void *arg, struct http_exchange *exchange)
{
    struct app *app = arg;
    if (!is_room_path(http_exchange_request(exchange)->path))
        api_on_gone(app->api, exchange);
}

static bool on_body(void *arg, struct http_exchange *exchange, size_t more_bytes)
{
    struct app *app = arg;
    return api_on_body(app->api, exchange, more_bytes);
}

static bool is_proxy(void *arg, const struct net_addr *peer)
{
    struct app *app = arg;
    return api_is_proxy(app->api, peer);
}

const struct http_handler app_front = {.on_head = on_head,
                                       .on_request = on_request,
                                       .on_gone = on_gone,
                                       .on_body = on_body,
                                       .is_proxy = is_proxy};
