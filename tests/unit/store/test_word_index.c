/* The derived index by itself: what a search catches up with, what the background does, and how it
 * comes back when its file is gone, stale or damaged; on both databases. */
#include "store/word_index.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "fixture.h"
#include "store/document.h"
#include "store/tx.h"
#include "store/word_file.h"

enum { SOON_US = 60000000, CROWD = 250 };

/* What a test does, and sees, while a document is being made. */
static struct {
    void (*fn)(void); /* with each passage, but for those that it makes itself */
    struct word_index *index;
    struct tx *tx;
    struct text_list ids;
    char first[8]; /* letters of the passages that were told apart */
    size_t passages, keys;
    int64_t until_us;
    bool stops_at_keys;
    void (*at_keys)(void);
} meanwhile;

static void tell(const struct passage *passage)
{
    void (*fn)(void) = meanwhile.fn;
    if (*passage->text == 'p') /* the document's name, "paper" */
        return;
    size_t at = meanwhile.passages++;
    if (at < sizeof(meanwhile.first) - 1)
        meanwhile.first[at] = *passage->text;
    meanwhile.fn = NULL;
    if (fn)
        fn();
    meanwhile.fn = fn;
}

/* Words are what stands between spaces, and their own keys. */
static void split(const struct passage *passage, struct arena *arena, struct word_list *out)
{
    tell(passage);
    char *rest = arena_strdup(arena, passage->text);
    for (char *word; (word = strsep(&rest, " "));)
        if (*word)
            *GROW(out, arena) = word;
}

static void keys(const char *word, const char *iso, struct buf *out)
{
    (void)iso;
    meanwhile.keys++;
    if (meanwhile.at_keys)
        meanwhile.at_keys();
    if (meanwhile.stops_at_keys)
        word_index_stop(meanwhile.index);
    CHECK_INT(buf_printf(out, "k%c", *word), OK);
}

static struct word_index *open_index(struct store *store, int version)
{
    const struct word_index_terms terms = {split, keys, version};
    memset(&meanwhile, 0, sizeof(meanwhile));
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

static void let_time_pass(void)
{
    while (clock_now_us() < meanwhile.until_us)
        ;
}

static void limit_pages(struct word_index *index, const char *pragma)
{
    struct fault fault;
    CHECK_INT(index->writer->ops->script(index->writer, pragma, &fault), OK);
}

/* A file that may not grow is as full a disk. */
STORE_TEST(full_disk_costs_no_document_that_is_there)
{
    enum { LONG_BYTES = 100000 };
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *id = add(fix, dogs, 3);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    unsigned generation = index->generation;
    limit_pages(index, "PRAGMA max_page_count = 1"); /* no more than it has */
    char *text = arena_new_n(fix->arena, char, LONG_BYTES + 1);
    memset(text, 'x', LONG_BYTES);
    text[LONG_BYTES] = '\0';
    const char *late = add(fix, (const char *const[]){text}, 1);
    CHECK_INT(found(fix, index, late, text), 0);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    struct tx *tx = fix_read(fix);
    bool is_done;
    CHECK_INT(word_index_step(index, tx, clock_now_us() + SOON_US, &is_done), ERR_BUSY);
    fix_rollback(tx);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    CHECK_INT(index->generation, generation);
    limit_pages(index, "PRAGMA max_page_count = 1000000");
    while (!step(fix, index))
        ;
    CHECK_INT(found(fix, index, late, text), 1);
    word_index_close(index);
}

/* Another one finds the file damaged while a document is written to it, whose turn it is again
 * then. */

static void *drop_index(void *arg)
{
    word_index_drop(arg, "by a test");
    return NULL;
}

static pthread_t dropper;

static void ask_to_drop(void)
{
    struct word_index *index = meanwhile.index;
    meanwhile.at_keys = NULL;
    REQUIRE(pthread_create(&dropper, NULL, drop_index, index) == 0);
    struct fix_wait wait = {0};
    uint64_t waiting;
    do {
        pthread_mutex_lock(&index->mutex);
        waiting = index->tickets - index->serving;
        pthread_mutex_unlock(&index->mutex);
    } while (waiting < 2 && fix_wait(&wait));
    CHECK_INT(waiting, 2);
    meanwhile.until_us = clock_now_us() + 20000; /* longer than a turn */
    let_time_pass();
}

STORE_TEST(index_that_is_made_anew_in_between_is_not_written_on)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *id = add(fix, dogs, 3);
    struct tx *tx = fix_read(fix);
    meanwhile.index = index;
    meanwhile.at_keys = ask_to_drop;
    CHECK(word_index_catch_up(index, tx, &(struct text_list){&id, 1}, clock_now_us() + SOON_US) ==
          ERR_IO);
    CHECK_INT(pthread_join(dropper, NULL), 0);
    fix_rollback(tx);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    word_index_close(index);
}

/* Its readers are those that were given back: one after another need one. */
STORE_TEST(one_reader_after_another_is_the_same)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    CHECK_INT(found(fix, index, add(fix, dogs, 3), "dogs"), 2);
    struct db *reader = index->readers[0].db;
    CHECK(reader != NULL);
    const char *id = add(fix, pools, 1);
    struct tx *tx = fix_read(fix);
    CHECK_INT(word_index_catch_up(index, tx, &(struct text_list){&id, 1}, clock_now_us() + SOON_US),
              OK);
    fix_rollback(tx);
    CHECK(index->readers[0].db == reader);
    CHECK(index->readers[1].db == NULL);
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

/* One document and another, whose search comes while the first one is being made. */

static void search_crowd(void)
{
    int64_t until_us = clock_now_us() + SOON_US;
    CHECK_INT(word_index_catch_up(meanwhile.index, meanwhile.tx, &meanwhile.ids, until_us), OK);
    CHECK(clock_now_us() < until_us);
    struct word_scope *scope =
        word_scope_open(meanwhile.index, &meanwhile.ids, meanwhile.tx->arena);
    REQUIRE(scope != NULL);
    CHECK_INT(word_scope_passages(scope), CROWD);
    word_scope_free(scope);
}

STORE_TEST(document_being_made_holds_up_no_other_one)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *id = add(fix, pools, 1), *crowd[CROWD];
    for (size_t i = 0; i < CROWD; i++)
        crowd[i] = add(fix, pools, 1);
    struct tx *tx = fix_read(fix);
    meanwhile.index = index;
    meanwhile.tx = tx;
    meanwhile.ids = (struct text_list){crowd, CROWD};
    meanwhile.fn = search_crowd;
    const struct text_list first = {&id, 1};
    CHECK_INT(word_index_catch_up(index, tx, &first, clock_now_us() + 2 * SOON_US), OK);
    CHECK_INT(meanwhile.passages, CROWD + 1);
    fix_rollback(tx);
    word_index_close(index);
}

static void search_same(void)
{
    CHECK_INT(
        word_index_catch_up(meanwhile.index, meanwhile.tx, &meanwhile.ids, clock_now_us() + 10000),
        OK);
}

STORE_TEST(document_that_another_one_makes_is_waited_for_within_the_time)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *id = add(fix, dogs, 3);
    struct tx *tx = fix_read(fix);
    meanwhile.index = index;
    meanwhile.tx = tx;
    meanwhile.ids = (struct text_list){&id, 1};
    meanwhile.fn = search_same;
    bool is_done;
    CHECK_INT(word_index_step(index, tx, clock_now_us() + SOON_US, &is_done), OK);
    CHECK_INT(meanwhile.passages, 3); /* once, by whoever came first */
    meanwhile.fn = NULL;
    fix_rollback(tx);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    word_index_close(index);
}

STORE_TEST(search_leaves_a_document_that_takes_too_long_to_the_background)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *id = add(fix, dogs, 3);
    struct text_list ids = {&id, 1};
    struct tx *tx = fix_read(fix);
    meanwhile.fn = let_time_pass;
    meanwhile.until_us = clock_now_us() + 500000;
    CHECK_INT(word_index_catch_up(index, tx, &ids, meanwhile.until_us), OK);
    CHECK_INT(meanwhile.passages, 1);
    meanwhile.fn = NULL;
    CHECK_INT(word_index_catch_up(index, tx, &ids, clock_now_us() + SOON_US), OK);
    CHECK_INT(meanwhile.passages, 1); /* nor does it try again */
    fix_rollback(tx);
    while (!step(fix, index))
        ;
    CHECK_INT(meanwhile.passages, 4);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    word_index_close(index);
}

STORE_TEST(background_goes_by_turns_of_workspaces)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    for (size_t i = 0; i < 4; i++)
        add(fix, pools, 1);
    fix_people(fix);
    add(fix, dogs, 1);
    while (!step(fix, index))
        ;
    CHECK_TEXT(meanwhile.first, "tdttt");
    word_index_close(index);
}

static void stop(void)
{
    word_index_stop(meanwhile.index);
}

static void check_stopped(struct fix *fix, struct word_index *index)
{
    bool is_done;
    struct tx *tx = fix_read(fix);
    CHECK_INT(word_index_step(index, tx, clock_now_us() + SOON_US, &is_done), ERR_BUSY);
    fix_rollback(tx);
}

STORE_TEST(stop_leaves_what_is_being_made_to_the_next_start)
{
    fix_people(fix);
    struct word_index *index = open_index(fix->store, 1);
    const char *id = add(fix, dogs, 3);
    meanwhile.index = index;
    meanwhile.fn = stop;
    check_stopped(fix, index);
    CHECK_INT(meanwhile.passages, 1); /* of three */
    word_index_close(index);
    index = open_index(fix->store, 1);
    meanwhile.index = index;
    meanwhile.stops_at_keys = true;
    check_stopped(fix, index);
    CHECK_INT(meanwhile.keys, 1);
    CHECK_INT(found(fix, index, id, "dogs"), 0);
    word_index_close(index);
    index = open_index(fix->store, 1);
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    while (!step(fix, index))
        ;
    CHECK_INT(found(fix, index, id, "dogs"), 2);
    word_index_close(index);
}
