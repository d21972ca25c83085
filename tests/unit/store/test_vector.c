/* Whose passages get their vectors next. */
#include "store/vector.h"

#include <stdio.h>
#include <string.h>

#include "store/document.h"
#include "store/internal.h"
#include "unit/store/fixture.h"

static void read_document(struct tx *tx, const char *id)
{
    const struct passage passages[] = {{.text = "one", .language = "en"},
                                       {.text = "two", .language = "en"}};
    const struct text_list topics = {0};
    struct document document;
    CHECK_INT(store_document_take(tx, id, &document), OK);
    CHECK_INT(store_document_ready(tx, id, 6, passages, ARRAY_LEN(passages), &topics), OK);
}

/* A ready document of two passages. */
static const char *add_document(struct fix *fix, struct tx *tx)
{
    struct document document = {
        .user_id = fix->workspace_id, .name = "Rules", .kind = DOCUMENT_TEXT, .bytes = 3};
    const struct document_source source = {.data = "abc", .len = 3};
    CHECK_INT(store_document_insert(tx, &document, &source, 0), OK);
    read_document(tx, document.id);
    return arena_strdup(fix->arena, document.id);
}

static void make_vectors(struct tx *tx, const char *model, const char *id)
{
    static const float numbers[] = {1, 0, 0, 1};
    struct vector_turn turn;
    CHECK_INT(store_vector_take(tx, model, id, &turn), OK);
    CHECK_INT(turn.count, 2);
    CHECK_INT(store_vector_put(tx, model, &turn, numbers, 2, 2), OK);
}

static void check_found(struct tx *tx, const char *model, const char *id)
{
    struct vector_turn found;
    enum err err = store_vector_find(tx, model, "", &found);
    CHECK_INT(err, id ? OK : ERR_NOT_FOUND);
    if (!err && id)
        CHECK_TEXT(found.document_id, id);
}

STORE_TEST(documents_wait_for_their_vectors_until_they_have_all)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *first = add_document(fix, tx);
    tx->now_ms++;
    const char *second = add_document(fix, tx);
    check_found(tx, "m", first);
    make_vectors(tx, "m", first);
    check_found(tx, "m", second);
    struct vector_turn turn;
    CHECK_INT(store_vector_take(tx, "m", second, &turn), OK);
    check_found(tx, "m", NULL); /* leased */
    tx->now_ms = turn.until_ms;
    check_found(tx, "m", second);
    make_vectors(tx, "m", second);
    check_found(tx, "m", NULL);
    CHECK_INT(store_vector_take(tx, "m", second, &turn), ERR_NOT_FOUND);
    struct document document;
    CHECK_INT(store_document_retry(tx, fix->workspace_id, first, &document), OK);
    check_found(tx, "m", NULL); /* not ready */
    read_document(tx, first);
    check_found(tx, "m", first);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(documents_of_another_model_wait)
{
    static const char *const models[] = {"n", "a", "z"}; /* before and after the last one */
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = add_document(fix, tx);
    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        check_found(tx, models[i], id);
        make_vectors(tx, models[i], id);
        tx->now_ms++;
        check_found(tx, models[i], NULL);
    }
    CHECK_INT(fix_commit(tx), OK);
}

TEST(a_look_for_what_waits_reads_no_other_documents)
{
    struct fix fix = {0};
    fix_begin(&fix, false);
    struct tx *tx = fix_read(&fix);
    for (size_t i = 0; store_vector_looks[i]; i++) {
        AUTO(cursor) row =
            QUERY(tx,
                  arena_printf(tx->arena, "EXPLAIN QUERY PLAN SELECT d.id, v.model, v.done %s",
                               store_vector_looks[i]),
                  NUMBER(0), TEXT("m"), TEXT(""));
        bool has_index = false;
        while (cursor_next(row)) {
            const char *step = cursor_text(row, 3);
            CHECK(strncmp(step, "SCAN", 4) != 0);
            has_index = has_index || strstr(step, "INDEX documents_vectors (vector_model");
        }
        CHECK(has_index);
    }
    fix_rollback(tx);
    fix_end(&fix);
}
