/* One pass; a value is never looked at again, so that what a caller says cannot name a variable. */
#include "text/template.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MAX_CHARS = 64 };

static const char *skip_spaces(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static bool is_name_char(char c, bool is_first)
{
    return c == '_' || isalpha((unsigned char)c) || (!is_first && isdigit((unsigned char)c));
}

/* At "{{": finds the name and what follows "}}". NULL: no placeholder. */
static const char *parse(const char *open, const char **out_name, size_t *out_len)
{
    const char *name = skip_spaces(open + 2), *at = name;
    while (is_name_char(*at, at == name))
        at++;
    size_t len = (size_t)(at - name);
    at = skip_spaces(at);
    if (len == 0 || len > NAME_MAX_CHARS || at[0] != '}' || at[1] != '}')
        return NULL;
    *out_name = name;
    *out_len = len;
    return at + 2;
}

enum err template_fill(const char *text, template_fn *value_of, void *arg, struct buf *out)
{
    enum err err = OK;
    while (!err && *text) {
        const char *open = strstr(text, "{{"), *name = NULL;
        size_t plain = open ? (size_t)(open - text) : strlen(text), len = 0;
        err = buf_append(out, text, plain);
        text += plain;
        if (err || !open)
            continue;
        const char *end = parse(open, &name, &len);
        const char *value = end ? value_of(arg, name, len) : "{";
        err = buf_append_str(out, value ? value : "");
        text = end ? end : open + 1;
    }
    return err;
}
