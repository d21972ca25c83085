/* The derived index by itself: what a search catches up with, what the background does, and how it
 * comes back when its file is gone, stale or damaged; on both databases. */
#include "store/word_index.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "fixture.h"
#include "store/document.h"
#include "store/tx.h"

enum { SOON_US = 60000000 };

/* Words are what stands between spaces, and their own keys. */
static void split(const struct passage *passage, struct arena *arena, struct word_list *out)
{
    char *rest = arena_strdup(arena, passage->text);
    for (char *word; (word = strsep(&rest, " "));)
        if (*word)
            *GROW(out, arena) = word;
}

static void keys(const char *word, const char *iso, struct buf *out)
{
    (void)iso;
    CHECK_INT(buf_printf(out, "k%c", *word), OK);
}

static struct word_index *open_index(struct store *store, int version)
{
    const struct word_index_terms terms = {split, keys, version};
    struct fault fault = {0};
    struct word_index *index = NULL;
    CHECK_INT(word_index_open(store, &terms, &index, &fault), OK);
    return index;
}

static void fill(struct fix *fix, const char *id, const char *const *texts, size_t n)
{
    struct tx *tx = fix_write(fix);
    struct passage passages[8] = {{0}};
    struct document document;
    for (size_t i = 0; i < n; i++)
        passages[i] = (struct passage){.text = texts[i], .language = "en"};
    CHECK_INT(store_document_take(tx, id, &document), OK);
    CHECK_INT(store_document_ready(tx, id, 10, passages, n, &(struct text_list){0}), OK);
    CHECK_INT(fix_commit(tx), OK);
}

static const char *add(struct fix *fix, const char *const *texts, size_t n)
{
    struct tx *tx = fix_write(fix);
    struct document document = {
        .user_id = fix->workspace_id, .name = "paper", .kind = DOCUMENT_TEXT, .bytes = 4};
    const struct document_source source = {.data = "text", .len = 4};
    CHECK_INT(store_document_insert(tx, &document, &source, 0), OK);
    const char *id = arena_strdup(fix->arena, document.id);
    CHECK_INT(fix_commit(tx), OK);
    fill(fix, id, texts, n);
    return id;
}

/* Passages with a word, after catching up; -1: the index could not be read. */
static int found(struct fix *fix, struct word_index *index, const char *id, const char *word)
{
    struct tx *tx = fix_read(fix);
    struct text_list ids = {&id, 1};
    int count = -1;
    CHECK_INT(word_index_catch_up(index, tx, &ids, clock_now_us() + SOON_US), OK);
    struct word_scope *scope = word_scope_open(index, &ids, tx->arena);
    if (scope) {
        count = (int)word_scope_find(scope, word_scope_word(scope, word)).count;
        count = word_scope_has_failed(scope) ? -1 : count;
    }
    word_scope_free(scope);
    fix_rollback(tx);
    return count;
}

static bool step(struct fix *fix, struct word_index *index)
{
    bool is_done = false;
    struct tx *tx = fix_read(fix);
    CHECK_INT(word_index_step(index, tx, clock_now_us() + SOON_US, &is_done), OK);
    fix_rollback(tx);
    return is_done;
}

static const char *const dogs[] = {"dogs are welcome", "cats are not", "dogs sleep"};
static const char *const pools[] = {"the pool is warm"};

STORE_TEST(search_catches_up_with_its_own_documents)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *mine = add(fix, dogs, 3), *other = add(fix, pools, 1);
    CHECK_INT(found(fix, index, mine, "dogs"), 2);
    CHECK_INT(found(fix, index, mine, "pool"), 0);
    struct tx *tx = fix_read(fix);
    struct word_scope *scope = word_scope_open(index, &(struct text_list){&other, 1}, tx->arena);
    REQUIRE(scope != NULL);
    CHECK_INT(word_scope_passages(scope), 0); /* the other one is left to the background */
    word_scope_free(scope);
    fix_rollback(tx);
    while (!step(fix, index))
        ;
    CHECK_INT(found(fix, index, other, "pool"), 1);
    word_index_close(index);
}

STORE_TEST(document_read_again_replaces_itself)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *id = add(fix, dogs, 3);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    struct tx *tx = fix_write(fix);
    struct document document;
    CHECK_INT(store_document_retry(tx, fix->workspace_id, id, &document), OK);
    CHECK_INT(fix_commit(tx), OK);
    fill(fix, id, pools, 1);
    CHECK_INT(found(fix, index, id, "dogs"), 0);
    CHECK_INT(found(fix, index, id, "pool"), 1);
    while (!step(fix, index))
        ;
    tx = fix_read(fix);
    struct word_scope *scope = word_scope_open(index, &(struct text_list){&id, 1}, tx->arena);
    REQUIRE(scope != NULL);
    CHECK_INT(word_scope_word(scope, "dogs"), 0); /* nothing of the old one is left */
    CHECK_INT(word_scope_key(scope, "kd", 10).count, 0);
    CHECK_INT(word_scope_key(scope, "kp", 10).count, 2); /* of its name and its text */
    word_scope_free(scope);
    fix_rollback(tx);
    word_index_close(index);
}

STORE_TEST(removed_document_leaves_the_index)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *id = add(fix, dogs, 3);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_document_remove(tx, fix->workspace_id, id), OK);
    CHECK_INT(fix_commit(tx), OK);
    while (!step(fix, index))
        ;
    CHECK_INT(found(fix, index, id, "dogs"), 0);
    word_index_close(index);
}

/* Overwrites the middle of the file, as a failing disk would. */
static void damage(struct fix *fix)
{
    AUTO_MEM char *path = mem_printf("%s/index.db", fix->dir);
    FILE *file = fopen(path, "r+");
    REQUIRE(file != NULL);
    char junk[4096];
    memset(junk, 0xA5, sizeof(junk));
    for (long at = 0; at < 400 * 1024; at += (long)sizeof(junk)) {
        fseek(file, at, SEEK_SET);
        if (fwrite(junk, sizeof(junk), 1, file) != 1)
            break;
    }
    fclose(file);
    AUTO_MEM char *log = mem_printf("%s-wal", path);
    CHECK_INT(truncate(log, 0), 0);
}

STORE_TEST(damaged_index_heals_while_it_is_used)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *id = add(fix, dogs, 3);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    damage(fix);
    int count = -1;
    for (int i = 0; i < 3 && count != 2; i++) {
        count = found(fix, index, id, "dogs");
        if (count != 2)
            word_index_drop(index, "damaged by a test");
    }
    CHECK_INT(count, 2);
    word_index_close(index);
}

STORE_TEST(lost_or_stale_index_is_made_anew)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *id = add(fix, dogs, 3);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    word_index_close(index);
    index = open_index(fix->store, 2); /* other terms: stale */
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    word_index_close(index);
    AUTO_MEM char *path = mem_printf("%s/index.db", fix->dir);
    CHECK_INT(unlink(path), 0);
    index = open_index(fix->store, 2);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    word_index_close(index);
}
