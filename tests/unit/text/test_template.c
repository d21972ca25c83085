#include "text/template.h"

#include "test.h"

static const char *value_of(void *arg, const char *name, size_t name_len)
{
    (void)arg;
    if (name_len == 4 && memcmp(name, "name", 4) == 0)
        return "Asha {{x}}";
    return name_len == 1 && *name == 'x' ? "X" : NULL;
}

TEST(template_fills_names_once)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"Hi {{name}}!", "Hi Asha {{x}}!"},
        {"{{ x }}{{x}}{{\tx\t}}", "XXX"},
        {"{{unknown}}.", "."},
        {"{{}} {{1a}} {{a b}} {x}", "{{}} {{1a}} {{a b}} {x}"},
        {"{{{x}}}", "{X}"},
        {"{{x", "{{x"},
        {"{{x}", "{{x}"},
        {"{{ {{x}}", "{{ X"},
        {"{{नाम}}", "{{नाम}}"},
    };
    struct buf out = BUF_INIT(256);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_reset(&out);
        CHECK_INT(template_fill(rows[i].text, value_of, NULL, &out), OK);
        CHECK_TEXT(out.len ? out.data : "", rows[i].want);
    }
    buf_clear(&out);
}

TEST(template_respects_the_ceiling)
{
    struct buf out = BUF_INIT(8);
    CHECK_INT(template_fill("{{name}}", value_of, NULL, &out), ERR_LIMIT);
    buf_clear(&out);
}
