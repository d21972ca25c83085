/* earshot show: the running service's tree, for people or (--json) for programs. */
#include <stdio.h>
#include <stdlib.h>

#include "base/js.h"
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/print.h"

enum { INDENT = 2 };

static bool is_nested(const struct js *value)
{
    return js_count(value) > 0;
}

static void print_value(const struct js *value)
{
    const char *text = js_text(value);
    AUTO_BUF written = BUF_INIT(PRINT_MAX_BYTES);
    if (!text && js_write(value, &written) == OK)
        text = written.data;
    AUTO_MEM char *tame = print_tamed(text);
    puts(tame);
}

/* Names and values, one a line; what lies deeper stands further right. Entries of a list begin with
 * a dash. */
static void print_tree(const struct js *tree, int depth) /* NOLINT(misc-no-recursion): bounded */
{
    bool is_list = js_type(tree) == JS_ARRAY;
    for (size_t i = 0; is_list && i < js_count(tree); i++) {
        const struct js *entry = js_at(tree, i);
        printf("%*s-%s", depth * INDENT, "", is_nested(entry) ? "\n" : " ");
        if (is_nested(entry))
            print_tree(entry, depth + 1);
        else
            print_value(entry);
    }
    for (void *it = is_list ? NULL : js_first(tree); it; it = js_next(tree, it)) {
        AUTO_MEM char *key = print_tamed(js_key(it));
        printf("%*s%s:%s", depth * INDENT, "", key, is_nested(js_value(it)) ? "\n" : " ");
        if (is_nested(js_value(it)))
            print_tree(js_value(it), depth + 1);
        else
            print_value(js_value(it));
    }
}

static int run_show(const struct invocation *call)
{
    AUTO_BUF text = BUF_INIT(PRINT_MAX_BYTES);
    struct fault fault = {0};
    AUTO(js) tree = NULL;
    if (ask_service(call->config, &tree, &text, &fault))
        return command_fail(&fault);
    if (invocation_has(call, "json"))
        return print_line(&text);
    print_tree(tree, 0);
    return EXIT_SUCCESS;
}

static const struct option options[] = {{"json", NULL, "Print JSON.", false}};
const struct command command_show = {
    "show",  "Shows what the running service does: calls, timers, queues.",
    options, ARRAY_LEN(options),
    false,   run_show};
