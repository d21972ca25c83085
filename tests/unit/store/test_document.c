#include "store/document.h"

#include <string.h>

#include "unit/store/fixture.h"

#include "base/arena.h"
#include "store/tx.h"

enum { SECTIONS = 7 };

/* A card stands among the sections, and one before the last. */
static const char *make_document(struct fix *fix, struct tx *tx, const char *text)
{
    static const struct document_source source = {.data = "Hello", .len = 5};
    struct passage passages[SECTIONS + 2];
    size_t n = 0;
    for (size_t i = 0; i < SECTIONS; i++) {
        if (i == 2 || i == SECTIONS - 1)
            passages[n++] = (struct passage){.text = "Yes.", .question = "Is it?"};
        passages[n++] = (struct passage){.text = arena_printf(fix->arena, "%zu %s", i, text)};
    }
    struct document document = {.user_id = fix->workspace_id, .name = "Page", .bytes = 5}, taken;
    CHECK_INT(store_document_insert(tx, &document, &source, 0), OK);
    CHECK_INT(store_document_take(tx, document.id, &taken), OK);
    CHECK_INT(store_document_ready(tx, document.id, 5, passages, n, NULL), OK);
    return document.id;
}

/* Pages of so many are as many as expected, and hold all in their order. */
static void read_pages(struct tx *tx, const char *id, unsigned limit, size_t expected)
{
    struct section_list list;
    size_t pages = 0, read = 0;
    int64_t at = -1, next = 0;
    for (int64_t after = -1; next >= 0 && pages <= SECTIONS; after = next, pages++) {
        REQUIRE(store_document_sections(tx, id, after, limit, &list, &next) == OK);
        CHECK(list.count > 0 && list.count <= limit);
        for (size_t i = 0; i < list.count; i++) {
            CHECK_INT(list.items[i].text[0], '0' + (int)read++);
            CHECK(list.items[i].position > at);
            at = list.items[i].position;
        }
    }
    CHECK_INT(read, SECTIONS);
    CHECK_INT(at, SECTIONS + 1);
    CHECK_INT(pages, expected);
}

STORE_TEST(sections_come_in_pages_without_the_cards)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = make_document(fix, tx, "short");
    CHECK(make_document(fix, tx, "of another document"));
    read_pages(tx, id, 3, 3);
    read_pages(tx, id, 1, SECTIONS);
    read_pages(tx, id, SECTIONS, 1);
    read_pages(tx, id, 100, 1);
    struct section_list list;
    int64_t next;
    CHECK_INT(store_document_sections(tx, "kd_none", -1, 3, &list, &next), OK);
    CHECK_INT(list.count, 0);
    CHECK_INT(next, -1);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_page_of_long_sections_is_shorter)
{
    fix_people(fix);
    char *half = arena_new_n(fix->arena, char, SECTIONS_BYTES / 2 + 1);
    memset(half, 'x', SECTIONS_BYTES / 2);
    half[SECTIONS_BYTES / 2] = '\0';
    struct tx *tx = fix_write(fix);
    read_pages(tx, make_document(fix, tx, half), 100, (SECTIONS + 1) / 2);
    CHECK_INT(fix_commit(tx), OK);
}

static void check_plan(struct tx *tx)
{
    AUTO(cursor) row = QUERY(tx,
                             arena_printf(tx->arena, "EXPLAIN QUERY PLAN SELECT position, text %s",
                                          store_document_sections_look),
                             TEXT("kd_a"), NUMBER(-1), NUMBER(3));
    REQUIRE(cursor_next(row));
    CHECK(strstr(cursor_text(row, 3), "(document_id=? AND position>?)"));
    CHECK(!cursor_next(row)); /* no sorting */
}

TEST(a_page_of_sections_is_read_by_its_index)
{
    struct fix fix = {0};
    fix_begin(&fix, false);
    struct tx *tx = fix_read(&fix);
    check_plan(tx);
    fix_rollback(tx);
    fix_end(&fix);
}
