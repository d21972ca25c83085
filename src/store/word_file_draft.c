/* A document on its way into the word index: its words are told apart in memory, without a lock;
 * then vocabulary, texts and posts are written slice by slice, a passage's text with its words, so
 * that what is left of a draft that was given up can be swept. Thread: a store thread. */
#include "store/word_file.h"

#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "model/field.h"
#include "store/columns.h"
#include "store/document.h"

enum {
    WORDS_MAX = 120000, /* different ones of a document; further ones are not found */
    PASSAGE_WORDS_MAX = 4000,
    TITLE_WORDS_MAX = 60,
    KEYS_MAX_BYTES = 4096,
    BLOB_MAX_BYTES = 1 << 20,
    ARENA_MAX_BYTES = 512 * 1024 * 1024,
    DYING_ROWS = 8, /* texts of a removed document at a time */
};

struct draft_word {
    const char *text, *iso;
    int64_t number;      /* in the file */
    size_t first, count; /* its places below */
    uint32_t last;       /* passage that was counted last, and one */
};

struct place {
    uint32_t word, passage;
};

struct draft {
    struct word_index *index;
    struct arena *arena; /* of the draft */
    struct passage *passages;
    size_t passage_count;
    struct map *seen; /* text -> its place in words, and one */
    struct {
        struct draft_word *items;
        size_t count;
    } words;
    struct { /* which word is where, each once a passage, by passages */
        struct place *items;
        size_t count;
    } places;
    struct {
        uint32_t *items; /* the words of all passages in their order */
        size_t count;
    } order;
    size_t title_end;     /* the title's come first in order */
    size_t *ends, *leads; /* of each passage: where its words end in order; how many lead */
    uint32_t *posts;      /* passages by words */
    const char *languages;
    int64_t until_us;
};

static bool may_go_on(const struct draft *draft)
{
    return !atomic_load(&draft->index->is_stopping) && clock_now_us() < draft->until_us;
}

/* In memory. */

static uint32_t word_of(struct draft *draft, const char *text, const char *iso)
{
    uintptr_t at = (uintptr_t)map_get_str(draft->seen, text);
    if (at)
        return (uint32_t)(at - 1);
    if (draft->words.count == WORDS_MAX)
        return WORDS_MAX;
    at = draft->words.count;
    *GROW(&draft->words, draft->arena) =
        (struct draft_word){.text = arena_strdup(draft->arena, text), .iso = iso};
    map_set_str(draft->seen, text, (void *)(at + 1));
    return (uint32_t)at;
}

static void take_passage(struct draft *draft, size_t passage)
{
    AUTO(arena) scratch = arena_new(0);
    struct word_list words = {0};
    const struct passage *from = &draft->passages[passage];
    draft->index->terms.words(from, scratch, &words);
    for (size_t i = 0; i < words.count && i < PASSAGE_WORDS_MAX; i++) {
        uint32_t at = word_of(draft, words.items[i], from->language);
        if (at == WORDS_MAX)
            continue;
        *GROW(&draft->order, draft->arena) = at;
        struct draft_word *word = &draft->words.items[at];
        if (word->last == passage + 1)
            continue;
        word->last = (uint32_t)passage + 1;
        word->count++;
        *GROW(&draft->places, draft->arena) = (struct place){at, (uint32_t)passage};
    }
    draft->leads[passage] = MIN(words.lead, words.count);
    draft->ends[passage] = draft->order.count;
}

/* The passages of each word together. */
static void turn_around(struct draft *draft)
{
    size_t first = 0;
    for (size_t i = 0; i < draft->words.count; i++) {
        draft->words.items[i].first = first;
        first += draft->words.items[i].count;
        draft->words.items[i].count = 0;
    }
    draft->posts = arena_new_n(draft->arena, uint32_t, first + 1);
    for (size_t i = 0; i < draft->places.count; i++) {
        struct draft_word *word = &draft->words.items[draft->places.items[i].word];
        draft->posts[word->first + word->count++] = draft->places.items[i].passage;
    }
}

static const char *languages_of(struct draft *draft)
{
    const char *list = "";
    for (size_t i = 0; i < draft->passage_count; i++) {
        const char *iso = draft->passages[i].language;
        if (*iso && !strstr(list, iso) && strlen(list) < 64)
            list = arena_printf(draft->arena, "%s%s ", list, iso);
    }
    return list;
}

static void take_title(struct draft *draft, const char *title)
{
    AUTO(arena) scratch = arena_new(0);
    struct word_list words = {0};
    const struct passage passage = {.text = title, .language = draft->passages[0].language};
    draft->index->terms.words(&passage, scratch, &words);
    for (size_t i = 0; i < words.count && i < TITLE_WORDS_MAX; i++) {
        uint32_t at = word_of(draft, words.items[i], passage.language);
        if (at < WORDS_MAX)
            *GROW(&draft->order, draft->arena) = at;
    }
    draft->title_end = draft->order.count;
}

static enum err draft_read(struct draft *draft, const char *title)
{
    take_title(draft, title);
    draft->ends = arena_new_n(draft->arena, size_t, draft->passage_count + 1);
    draft->leads = arena_new_n(draft->arena, size_t, draft->passage_count + 1);
    for (size_t i = 0; i < draft->passage_count && may_go_on(draft); i++)
        take_passage(draft, i);
    if (!may_go_on(draft))
        return ERR_TIMEOUT;
    turn_around(draft);
    draft->languages = languages_of(draft);
    return OK;
}

/* Into the file. */

static int64_t space_of(struct tx *file, const char *workspace_id)
{
    int64_t number = QUERY_NUMBER(file, 0, "SELECT number FROM spaces WHERE workspace_id = ?",
                                  TEXT(workspace_id));
    if (number || file->fault.err)
        return number;
    return QUERY_NUMBER(file, 0, "INSERT INTO spaces (workspace_id) VALUES (?) RETURNING number",
                        TEXT(workspace_id));
}

static void add_keys(struct tx *file, int64_t space, const struct draft_word *word, char *keys)
{
    for (char *key; (key = strsep(&keys, " "));)
        if (*key)
            EXEC(file, "INSERT OR IGNORE INTO keys (space, key, word, text) VALUES (?, ?, ?, ?)",
                 NUMBER(space), TEXT(key), NUMBER(word->number), TEXT(word->text));
}

static void name_word(struct draft *draft, struct tx *file, int64_t space, struct draft_word *word)
{
    word->number = QUERY_NUMBER(file, 0, "SELECT number FROM words WHERE space = ? AND word = ?",
                                NUMBER(space), TEXT(word->text));
    if (word->number || file->fault.err)
        return;
    AUTO_BUF keys = BUF_INIT(KEYS_MAX_BYTES);
    draft->index->terms.keys(word->text, word->iso, &keys);
    word->number = QUERY_NUMBER(
        file, 0, "INSERT INTO words (space, word, keys) VALUES (?, ?, ?) RETURNING number",
        NUMBER(space), TEXT(word->text), TEXT(keys.len ? keys.data : ""));
    if (keys.len)
        add_keys(file, space, word, keys.data);
}

static void add_posts(struct draft *draft, struct tx *file, int64_t number,
                      const struct draft_word *word)
{
    AUTO_BUF bytes = BUF_INIT(BLOB_MAX_BYTES);
    uint32_t before = 0;
    for (size_t i = 0; i < word->count; i++) {
        uint32_t passage = draft->posts[word->first + i];
        word_bytes_add(&bytes, passage - before);
        before = passage;
    }
    EXEC(file, "INSERT INTO posts (word, document, passages) VALUES (?, ?, ?)",
         NUMBER(word->number), NUMBER(number), BLOB(bytes.data, bytes.len));
}

static void words_bytes(const struct draft *draft, size_t first, size_t end, struct buf *out)
{
    for (size_t i = first; i < end; i++)
        word_bytes_add(out, (uint64_t)draft->words.items[draft->order.items[i]].number);
}

static void add_title(struct draft *draft, struct tx *file, int64_t number)
{
    AUTO_BUF bytes = BUF_INIT(BLOB_MAX_BYTES);
    words_bytes(draft, 0, draft->title_end, &bytes);
    EXEC(file, "UPDATE documents SET title = ? WHERE number = ?", BLOB(bytes.data, bytes.len),
         NUMBER(number));
}

static void add_text(struct draft *draft, struct tx *file, int64_t number, size_t passage)
{
    AUTO_BUF bytes = BUF_INIT(BLOB_MAX_BYTES);
    const struct passage *from = &draft->passages[passage];
    words_bytes(draft, passage ? draft->ends[passage - 1] : draft->title_end, draft->ends[passage],
                &bytes);
    EXEC(file, "INSERT INTO texts (row, text, question, words, lead) VALUES (?, ?, ?, ?, ?)",
         NUMBER((number << POSITION_BITS) + (int64_t)passage), TEXT(from->text),
         TEXT(from->question ? from->question : ""), BLOB(bytes.data, bytes.len),
         NUMBER((int64_t)draft->leads[passage]));
}

/* The old one makes way; both in the same transaction. */
static void replace(struct tx *file, const char *id, int64_t number)
{
    EXEC(file, "UPDATE documents SET state = ? WHERE id = ? AND state = ?", NUMBER(WORD_DYING),
         TEXT(id), NUMBER(WORD_WHOLE));
    if (number)
        EXEC(file, "UPDATE documents SET state = ? WHERE number = ?", NUMBER(WORD_WHOLE),
             NUMBER(number));
}

static bool goes_on(const struct draft *draft, struct word_turn *turn)
{
    return may_go_on(draft) && word_turn_goes_on(turn);
}

static void name_words(struct draft *draft, struct word_turn *turn, int64_t space, size_t first,
                       size_t end)
{
    for (size_t i = first; i < end && goes_on(draft, turn); i++) {
        struct draft_word *word = &draft->words.items[draft->order.items[i]];
        if (!word->number)
            name_word(draft, &turn->file, space, word);
    }
}

static void write_slices(struct draft *draft, struct word_turn *turn, int64_t space, int64_t number)
{
    name_words(draft, turn, space, 0, draft->title_end);
    if (goes_on(draft, turn))
        add_title(draft, &turn->file, number);
    for (size_t i = 0, first = draft->title_end; i < draft->passage_count; i++) {
        name_words(draft, turn, space, first, draft->ends[i]);
        if (!goes_on(draft, turn))
            return;
        add_text(draft, &turn->file, number, i);
        first = draft->ends[i];
    }
    for (size_t i = 0; i < draft->words.count && goes_on(draft, turn); i++)
        if (draft->words.items[i].count)
            add_posts(draft, &turn->file, number, &draft->words.items[i]);
}

/* file->fault tells of the file, tx->fault of the database. */
static enum err write_draft(struct draft *draft, struct tx *tx, const struct word_change *change)
{
    struct word_turn turn;
    struct tx own = {.arena = draft->arena, .db = tx->db, .store = tx->store};
    enum err err = word_turn_begin(draft->index, &own, &turn);
    if (err)
        return err;
    draft->index->making++;
    int64_t space = space_of(&turn.file, change->workspace_id);
    const struct row_insert insert = {
        .into = "documents",
        .also = COLUMNS({"id", TEXT(change->document_id)}, {"space", NUMBER(space)},
                        {"revision", NUMBER(change->revision)},
                        {"passages", NUMBER((int64_t)draft->passage_count)},
                        {"languages", TEXT(draft->languages)}, {"title", TEXT("")},
                        {"state", NUMBER(WORD_MAKING)}),
    };
    int64_t number = columns_insert_returning(&turn.file, &insert, "number");
    write_slices(draft, &turn, space, number);
    bool is_whole = goes_on(draft, &turn);
    if (is_whole)
        replace(&turn.file, change->document_id, number);
    else if (!turn.file.fault.err)
        EXEC(&turn.file, "UPDATE documents SET state = ? WHERE number = ?", NUMBER(WORD_DYING),
             NUMBER(number));
    draft->index->making--;
    err = word_turn_end(&turn);
    return err || is_whole ? err : ERR_TIMEOUT;
}

enum err word_draft_write(struct word_index *index, struct tx *tx, const struct word_change *change,
                          int64_t until_us)
{
    AUTO(arena) arena = arena_new(ARENA_MAX_BYTES);
    AUTO(map) seen = map_new();
    struct draft draft = {.index = index, .arena = arena, .seen = seen, .until_us = until_us};
    struct tx reading = *tx;
    reading.arena = arena;
    const char *id = change->document_id, *title = "";
    enum err err = store_document_title(&reading, id, &title);
    if (!err)
        err = store_document_passages(&reading, id, &draft.passages, &draft.passage_count);
    tx->fault = reading.fault;
    if (err)
        return err;
    if (!draft.passage_count)
        return word_draft_forget(index, tx, id);
    draft.passage_count = MIN(draft.passage_count, (size_t)1 << POSITION_BITS);
    err = draft_read(&draft, title);
    return err ? err : write_draft(&draft, tx, change);
}

enum err word_draft_forget(struct word_index *index, struct tx *tx, const char *document_id)
{
    struct word_turn turn;
    enum err err = word_turn_begin(index, tx, &turn);
    if (err)
        return err;
    replace(&turn.file, document_id, 0);
    return word_turn_end(&turn);
}

/* What is left of documents that were replaced. */

static void forget_word(struct word_turn *turn, int64_t word)
{
    struct tx *file = &turn->file;
    if (turn->index->making ||
        QUERY_NUMBER(file, 0, "SELECT 1 FROM posts WHERE word = ? LIMIT 1", NUMBER(word)))
        return;
    AUTO(cursor) row = QUERY(file, "SELECT space, keys FROM words WHERE number = ?", NUMBER(word));
    if (!cursor_next(row))
        return;
    int64_t space = cursor_number(row, 0);
    char *keys = arena_strdup(file->arena, cursor_text(row, 1));
    for (char *key; (key = strsep(&keys, " "));)
        EXEC(file, "DELETE FROM keys WHERE space = ? AND key = ? AND word = ?", NUMBER(space),
             TEXT(key), NUMBER(word));
    EXEC(file, "DELETE FROM words WHERE number = ?", NUMBER(word));
}

static void forget_posts(struct word_turn *turn, int64_t document, const unsigned char *at,
                         size_t len)
{
    struct tx *file = &turn->file;
    uint64_t word;
    for (const unsigned char *end = at + len; word_bytes_next(&at, end, &word);) {
        EXEC(file, "DELETE FROM posts WHERE word = ? AND document = ?", NUMBER((int64_t)word),
             NUMBER(document));
        forget_word(turn, (int64_t)word); /* a draft that was given up has no posts */
    }
}

static size_t forget_texts(struct word_turn *turn, int64_t document)
{
    struct tx *file = &turn->file;
    int64_t first = document << POSITION_BITS, last = first | ((1 << POSITION_BITS) - 1),
            at = first;
    size_t count = 0;
    static const char sql[] =
        "SELECT row, words FROM texts WHERE row BETWEEN ? AND ? ORDER BY row LIMIT ?";
    AUTO(cursor) row = QUERY(file, sql, NUMBER(first), NUMBER(last), NUMBER(DYING_ROWS));
    for (; cursor_next(row); count++) {
        size_t len;
        const unsigned char *words = cursor_blob(row, 1, &len);
        forget_posts(turn, document, words, len);
        at = cursor_number(row, 0);
    }
    if (count)
        EXEC(file, "DELETE FROM texts WHERE row BETWEEN ? AND ?", NUMBER(first), NUMBER(at));
    return count;
}

enum err word_draft_sweep(struct word_index *index, struct tx *tx, bool *out_is_done)
{
    struct word_turn turn;
    AUTO(arena) arena = arena_new(0);
    struct tx own = {.arena = arena, .db = tx->db, .store = tx->store};
    enum err err = word_turn_begin(index, &own, &turn);
    if (err)
        return err;
    int64_t document = QUERY_NUMBER(&turn.file, 0,
                                    "SELECT number FROM documents WHERE state <> 1 AND state = ?"
                                    " LIMIT 1",
                                    NUMBER(WORD_DYING));
    if (document && !forget_texts(&turn, document))
        EXEC(&turn.file, "DELETE FROM documents WHERE number = ?", NUMBER(document));
    *out_is_done = document == 0;
    return word_turn_end(&turn);
}
