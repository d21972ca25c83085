/* The OpenAPI document is JSON, and every reference in it leads somewhere. */
#include "api/openapi.h"

#include <stdio.h>
#include <string.h>

#include "api/router.h"
#include "base/js.h"
#include "model/event.h"
#include "test.h"

/* "#/components/schemas/Agent" */
static const struct js *follow(const struct js *document, const char *reference)
{
    char path[200];
    snprintf(path, sizeof(path), "%s", reference + 2);
    const struct js *at = document;
    for (char *part = strtok(path, "/"); part; part = strtok(NULL, "/"))
        at = js_get(at, part);
    return at;
}

static void check_references(const struct js *document, const struct js *node)
{
    const char *reference = js_text(js_get(node, "$ref"));
    if (reference && !follow(document, reference))
        test_fail(__FILE__, __LINE__, "%s leads nowhere", reference);
    for (void *it = js_first(node); it; it = js_next(node, it))
        check_references(document, js_value(it));
    for (size_t i = 0; js_type(node) == JS_ARRAY && i < js_count(node); i++)
        check_references(document, js_at(node, i));
}

TEST(openapi_document_is_consistent)
{
    AUTO_BUF text = BUF_INIT(8 << 20);
    AUTO(js) document = NULL;
    struct fault fault = {0};
    openapi_write(routes, route_count, "https://earshot.example", &text);
    if (js_parse(text.data, text.len, 64, &document, &fault) != OK) {
        test_fail(__FILE__, __LINE__, "%s", fault.text);
        return;
    }
    CHECK_TEXT(js_text(js_get(document, "openapi")), "3.1.0");
    CHECK(js_count(js_get(document, "paths")) >= 25);
    const struct js *webhooks = js_get(document, "webhooks");
    CHECK_INT(js_count(webhooks), 9);
    for (int i = 0; i < EVENT_TYPE_COUNT; i++)
        CHECK(*js_text(js_get(js_get(js_get(webhooks, event_type_names[i]), "post"), "summary")));
    check_references(document, document);
}
