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

/* Pages answer at the head, rooms have no body: both need nothing of it. */
static struct http_body_choice on_head(void *arg, struct http_exchange *exchange)
{
    struct app *app = arg;
    bool is_room = is_room_path(http_exchange_request(exchange)->path);
    if (is_room || pages_answer(exchange))
        return (struct http_body_choice){.form = HTTP_BODY_DROP};
    return api_on_head(app->api, exchange);
}

static void on_request(void *arg, struct http_exchange *exchange)
{
    struct app *app = arg;
    if (is_room_path(http_exchange_request(exchange)->path) && room_admit(app->rooms, exchange))
        return;
    api_on_request(app->api, exchange);
}

const struct http_handler app_front = {on_head, on_request};
