#include "vendor/vendor_error.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/js.h"

enum { DEPTH_MAX = 64 };

static const char *vendor_error_sentence(const struct js *tree)
{
    static const char *const names[] = {"message", "error", "detail", "error_message"};
    const struct js *error = js_get(tree, "error");
    if (js_type(tree) == JS_ARRAY)
        return vendor_error_sentence(js_at(tree, 0));
    if (js_type(error) == JS_OBJECT)
        return vendor_error_sentence(error);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *text = js_text_or(js_get(tree, names[i]), "");
        if (*text)
            return text;
    }
    return NULL;
}

enum engine_error vendor_error_of_status(int status)
{
    if (status == 401 || status == 403)
        return ENGINE_AUTH;
    if (status == 402 || status == 429)
        return ENGINE_QUOTA;
    if (status == 408 || status == 409 || status >= 500)
        return ENGINE_TRANSIENT;
    return status >= 400 ? ENGINE_BAD_REQUEST : ENGINE_TRANSIENT;
}

/* Inside a stream the status was 200: the words must do. */
enum engine_error vendor_error_kind(const struct js *tree)
{
    static const struct {
        const char *word;
        enum engine_error error;
    } kinds[] = {{"rate_limit", ENGINE_QUOTA},
                 {"quota", ENGINE_QUOTA},
                 {"api_key", ENGINE_AUTH},
                 {"authentication", ENGINE_AUTH},
                 {"permission", ENGINE_AUTH},
                 {"billing", ENGINE_QUOTA},
                 {"context_length", ENGINE_BAD_REQUEST},
                 {"invalid_request", ENGINE_BAD_REQUEST}};
    const struct js *error =
        js_type(js_get(tree, "error")) == JS_OBJECT ? js_get(tree, "error") : tree;
    const char *type = js_text_or(js_get(error, "type"), "");
    const char *code = js_text_or(js_get(error, "code"), "");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strstr(type, kinds[i].word) || strstr(code, kinds[i].word))
            return kinds[i].error;
    return vendor_error_of_status((int)js_int(js_get(error, "code"), 0));
}

enum engine_error vendor_error(int status, const char *body, size_t len, char *out_message,
                               size_t size)
{
    AUTO(js) tree = NULL;
    if (len == 0 || js_parse(body, len, DEPTH_MAX, &tree, NULL) != OK)
        tree = NULL;
    const char *message = vendor_error_sentence(tree);
    if (status)
        snprintf(out_message, size, "HTTP %d%s%s", status, message ? ": " : "",
                 message ? message : "");
    else
        snprintf(out_message, size, "%s", message ? message : "the server reports an error");
    return status ? vendor_error_of_status(status) : vendor_error_kind(tree);
}
