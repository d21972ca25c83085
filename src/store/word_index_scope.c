/* A search in the word index: words, their passages, texts. A scope reads one state of the file
 * throughout. Thread: a store thread. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "model/field.h"
#include "store/word_file.h"

enum {
    LANGUAGES_MAX = 4,
    RANGES_MAX = 6, /* documents looked up one by one; more: all of the word's, merged */
    PASSAGE_WORDS_MAX = 8000,
};

struct scope_document {
    int64_t number;
    const char *id;
    size_t first, passages; /* of its rows */
    const int64_t *title;
    size_t title_count;
};

struct word_scope {
    struct word_index *index;
    struct word_reader reader;
    struct tx tx;
    int64_t space;
    struct {
        struct scope_document *items; /* by number */
        size_t count;
    } documents;
    size_t passages;
    struct text_list languages;
};

/* Opening. */

static void add_languages(struct word_scope *scope, const char *list)
{
    for (const char *at = list, *end; (end = strchr(at, ' ')); at = end + 1) {
        size_t len = (size_t)(end - at);
        bool is_known = scope->languages.count == LANGUAGES_MAX;
        for (size_t i = 0; i < scope->languages.count && !is_known; i++)
            is_known = strlen(scope->languages.items[i]) == len &&
                       strncmp(scope->languages.items[i], at, len) == 0;
        if (!is_known)
            *GROW(&scope->languages, scope->tx.arena) = arena_strndup(scope->tx.arena, at, len);
    }
}

static void find_space(struct word_scope *scope, const struct text_list *ids)
{
    for (size_t i = 0; i < ids->count && !scope->space && !scope->tx.fault.err; i++)
        scope->space =
            QUERY_NUMBER(&scope->tx, 0, "SELECT space FROM documents WHERE id = ? AND state = ?",
                         TEXT(ids->items[i]), NUMBER(WORD_WHOLE));
}

static const int64_t *read_words(struct word_scope *scope, struct cursor *row, unsigned column,
                                 size_t *out_count)
{
    size_t len, count = 0;
    const unsigned char *at = cursor_peek_blob(row, column, &len);
    int64_t *words = arena_new_n(scope->tx.arena, int64_t, MIN(len, (size_t)PASSAGE_WORDS_MAX) + 1);
    uint64_t word;
    for (const unsigned char *end = at + len;
         count < PASSAGE_WORDS_MAX && word_bytes_next(&at, end, &word);)
        words[count++] = (int64_t)word;
    *out_count = count;
    return words;
}

/* The columns of find_documents(). */
enum { OF_NUMBER, OF_ID, OF_PASSAGES, OF_LANGUAGES, OF_TITLE };

static void find_documents(struct word_scope *scope, const struct text_list *ids)
{
    AUTO(map) asked = map_new();
    for (size_t i = 0; i < ids->count; i++)
        map_set_str(asked, ids->items[i], asked);
    static const char sql[] = "SELECT number, id, passages, languages, title FROM documents"
                              " WHERE space = ? AND state = ? ORDER BY number";
    AUTO(cursor) row = QUERY(&scope->tx, sql, NUMBER(scope->space), NUMBER(WORD_WHOLE));
    while (cursor_next(row)) {
        const char *id = cursor_peek(row, OF_ID, NULL);
        if (!map_get_str(asked, id))
            continue;
        struct scope_document *document = GROW(&scope->documents, scope->tx.arena);
        document->number = cursor_number(row, OF_NUMBER);
        document->id = arena_strdup(scope->tx.arena, id);
        document->first = scope->passages;
        document->passages = (size_t)MAX(cursor_number(row, OF_PASSAGES), (int64_t)0);
        scope->passages += document->passages;
        add_languages(scope, cursor_text(row, OF_LANGUAGES));
        document->title = read_words(scope, row, OF_TITLE, &document->title_count);
    }
}

struct word_scope *word_scope_open(struct word_index *index, const struct text_list *document_ids,
                                   struct arena *arena)
{
    int64_t now_ms;
    struct word_scope *scope = mem_new(struct word_scope);
    scope->index = index;
    scope->reader = word_reader_take(index);
    scope->tx = (struct tx){.arena = arena, .db = scope->reader.db};
    if (!scope->reader.db ||
        scope->reader.db->ops->begin(scope->reader.db, false, &now_ms, &scope->tx.fault)) {
        word_scope_free(scope);
        return NULL;
    }
    find_space(scope, document_ids);
    if (scope->space)
        find_documents(scope, document_ids);
    return scope;
}

void word_scope_free(struct word_scope *scope)
{
    if (!scope)
        return;
    if (scope->reader.db)
        scope->reader.db->ops->rollback(scope->reader.db);
    if (scope->tx.fault.err)
        db_close(scope->reader.db);
    else
        word_reader_give(scope->index, scope->reader);
    mem_free(scope);
}

bool word_scope_has_failed(const struct word_scope *scope)
{
    return scope->tx.fault.err && scope->tx.fault.err != ERR_BUSY;
}

size_t word_scope_passages(const struct word_scope *scope)
{
    return scope->passages;
}

const struct text_list *word_scope_languages(const struct word_scope *scope)
{
    return &scope->languages;
}

/* Words. */

int64_t word_scope_word(struct word_scope *scope, const char *text)
{
    return QUERY_NUMBER(&scope->tx, 0, "SELECT number FROM words WHERE space = ? AND word = ?",
                        NUMBER(scope->space), TEXT(text));
}

struct word_matches word_scope_key(struct word_scope *scope, const char *key, size_t most)
{
    struct word_matches matches = {0};
    static const char sql[] = "SELECT word, text FROM keys WHERE space = ? AND key = ? LIMIT ?";
    AUTO(cursor) row =
        QUERY(&scope->tx, sql, NUMBER(scope->space), TEXT(key), NUMBER((int64_t)most));
    while (cursor_next(row)) {
        struct indexed_word *word = GROW(&matches, scope->tx.arena);
        word->number = cursor_number(row, 0);
        word->text = cursor_text(row, 1);
    }
    return matches;
}

/* Passages. */

static void add_rows(struct word_scope *scope, const struct scope_document *document,
                     struct cursor *row, unsigned column, struct word_rows *out)
{
    size_t len;
    const unsigned char *at = cursor_peek_blob(row, column, &len);
    uint64_t passage = 0, step;
    for (const unsigned char *end = at + len; word_bytes_next(&at, end, &step);) {
        passage += step;
        if (passage >= document->passages)
            return;
        *GROW(out, scope->tx.arena) = (uint32_t)(document->first + passage);
    }
}

static void find_one(struct word_scope *scope, int64_t word, const struct scope_document *document,
                     struct word_rows *out)
{
    static const char sql[] = "SELECT passages FROM posts WHERE word = ? AND document = ?";
    AUTO(cursor) row = QUERY(&scope->tx, sql, NUMBER(word), NUMBER(document->number));
    while (cursor_next(row))
        add_rows(scope, document, row, 0, out);
}

static void find_merged(struct word_scope *scope, int64_t word, struct word_rows *out)
{
    const struct scope_document *at = scope->documents.items, *end = at + scope->documents.count;
    static const char sql[] =
        "SELECT document, passages FROM posts WHERE word = ? AND document BETWEEN ? AND ?";
    AUTO(cursor) row =
        QUERY(&scope->tx, sql, NUMBER(word), NUMBER(at->number), NUMBER(end[-1].number));
    while (cursor_next(row)) {
        int64_t number = cursor_number(row, 0);
        while (at < end && at->number < number)
            at++;
        if (at < end && at->number == number)
            add_rows(scope, at, row, 1, out);
    }
}

struct word_rows word_scope_find(struct word_scope *scope, int64_t word)
{
    struct word_rows rows = {0};
    if (!word || !scope->documents.count)
        return rows;
    if (scope->documents.count > RANGES_MAX)
        find_merged(scope, word, &rows);
    else
        for (size_t i = 0; i < scope->documents.count; i++)
            find_one(scope, word, &scope->documents.items[i], &rows);
    return rows;
}

size_t word_scope_documents(const struct word_scope *scope)
{
    return scope->documents.count;
}

const char *word_scope_document_id(const struct word_scope *scope, size_t document)
{
    return scope->documents.items[document].id;
}

const int64_t *word_scope_title(const struct word_scope *scope, size_t document, size_t *out_count)
{
    *out_count = scope->documents.items[document].title_count;
    return scope->documents.items[document].title;
}

size_t word_scope_document_end(const struct word_scope *scope, size_t document)
{
    return scope->documents.items[document].first + scope->documents.items[document].passages;
}

size_t word_scope_document(const struct word_scope *scope, uint32_t row)
{
    size_t low = 0, high = scope->documents.count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (scope->documents.items[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Its columns. */
enum { OF_TEXT, OF_QUESTION, OF_WORDS, OF_LEAD };

enum err word_scope_load(struct word_scope *scope, uint32_t row, struct word_passage *out)
{
    size_t place = word_scope_document(scope, row);
    const struct scope_document *document = &scope->documents.items[place];
    static const char sql[] = "SELECT text, question, words, lead FROM texts WHERE row = ?";
    AUTO(cursor) found =
        QUERY(&scope->tx, sql,
              NUMBER((document->number << POSITION_BITS) + (int64_t)(row - document->first)));
    if (!cursor_next(found))
        return tx_missing(&scope->tx);
    *out = (struct word_passage){.document_id = document->id,
                                 .text = cursor_text(found, OF_TEXT),
                                 .question = cursor_text(found, OF_QUESTION),
                                 .document = place};
    out->words = read_words(scope, found, OF_WORDS, &out->word_count);
    out->lead = MIN((size_t)MAX(cursor_number(found, OF_LEAD), (int64_t)0), out->word_count);
    return OK;
}
