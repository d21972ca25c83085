#include "vendor/terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "test.h"

TEST(terms_are_names_by_how_often_they_stand_there)
{
    static const struct {
        const char *text, *line;
    } rows[] = {
        {"You answer for Salon Lumiere. Ask for Maria Lopez. At Salon Lumiere we speak kindly.",
         "Salon Lumiere, Maria Lopez"},
        {"We sell Nespresso pods. They fit. Nothing else.", "Nespresso"},
        {"You must NEVER ask. We DO NOT say so, but ALWAYS call Maria at ICICI.", "Maria, ICICI"},
        {"- Bullet\n- Other: Then more", ""},
        {"Call Dr. Rao about iPhone15 or the X200-Plus", "X200-Plus"},
        {"नमस्ते, यह एक दुकान है।", ""},
        {"", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena) arena = arena_new(0);
        CHECK_TEXT(terms_line(rows[i].text, arena, TERMS_MAX), rows[i].line);
    }
    AUTO(arena) arena = arena_new(0);
    CHECK_TEXT(terms_line(NULL, arena, 5), "");
}

TEST(terms_have_ceilings)
{
    AUTO(arena) arena = arena_new(0);
    AUTO_BUF text = BUF_INIT(1 << 20);
    const char *out[TERMS_MAX];
    for (int i = 0; i < 20000; i++)
        (void)buf_printf(&text, "and Name%d ", i);
    CHECK_INT(terms_find(text.data, arena, out, TERMS_MAX), TERMS_MAX);
    AUTO_MEM char *word = mem_printf("see A%0300d", 7);
    CHECK_INT(terms_find(word, arena, out, TERMS_MAX), 0);
}
