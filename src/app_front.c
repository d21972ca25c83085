/* Who answers which path: the rooms, the pages, and the API all else. */
#include <string.h>

#include "app.h"
#include "net/http_server.h"
#include "studio/pages.h"

/* Pages answer at the head: they have no body to wait for. */
static struct http_body_choice on_head(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    if (!pages_answer(exchange))
        http_answer_error(exchange, 404, "NOT_FOUND", "There is nothing here.");
    return (struct http_body_choice){.form = HTTP_BODY_DROP};
}

static void on_request(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_answer_error(exchange, 404, "NOT_FOUND", "There is nothing here.");
}

const struct http_handler app_front = {on_head, on_request};
