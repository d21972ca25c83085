/* See passages.h. The blocks go one by one: a heading, a question, its answer, or what goes into
 * the section that is being filled. Thread: any. */
#include "know/passages.h"

#include <string.h>

#include "base/buf.h"
#include "extract/block.h"
#include "extract/plain.h"
#include "know/labels.h"
#include "know/language.h"
#include "know/rows.h"
#include "text/sentence.h"
#include "text/words.h"

enum {
    SECTION_CHARS = 400,     /* some three spoken sentences: what one answer can use */
    LONGEST_CHARS = 600,     /* a paragraph beyond it is cut between sentences */
    SECTION_MAX_CHARS = 900, /* with one very long sentence in it */
    WRAPPED_CHARS = 45,      /* a line this long that ends without a stop goes on in the next */
    HEADING_CHARS = 200,
    QUESTION_CHARS = 300,
    ANSWER_CHARS = 1500, /* a longer one is sections below its question */
    KEY_CHARS = 40,
    LEVELS = 10,
    TOPICS_MAX = 30,
    PASSAGES_MAX = 20000,
    TEXT_MAX_BYTES = 16 * 1024 * 1024,
};

struct cutter {
    struct arena *arena;
    struct passages *out;
    const char *headings[LEVELS]; /* by level; NULL: none */
    const char *question;         /* waits for its answer, or NULL */
    unsigned question_level;      /* it is a heading: all up to the next one answers it; 0: not */
    struct buf answer;
    struct buf section;
    bool is_cut_short; /* the section ends inside a sentence */
    struct row_reader rows;
};

/* Passages. */

static void add_passage(struct cutter *cutter, const char *text, const char *question)
{
    struct passages *out = cutter->out;
    if (!*text || out->count == PASSAGES_MAX)
        return;
    if ((out->count & (out->count - 1)) == 0) {
        struct passage *wider =
            arena_new_n(cutter->arena, struct passage, MAX(out->count * 2, (size_t)8));
        if (out->count)
            memcpy(wider, out->items, out->count * sizeof(*wider));
        out->items = wider;
    }
    struct passage *passage = &out->items[out->count++];
    passage->text = arena_strdup(cutter->arena, text);
    passage->question = arena_strdup(cutter->arena, question);
    passage->language = language_guess(text);
}

static void end_section(struct cutter *cutter)
{
    if (cutter->section.len)
        add_passage(cutter, cutter->section.data, NULL);
    buf_reset(&cutter->section);
    cutter->is_cut_short = false;
}

/* The nearest heading, with the one above it where that is not the document's title. */
static void begin_section(struct cutter *cutter)
{
    const char *nearest = NULL, *above = NULL;
    for (unsigned level = 1; level < LEVELS; level++)
        if (cutter->headings[level]) {
            above = level > 2 && nearest != cutter->headings[1] ? nearest : NULL;
            nearest = cutter->headings[level];
        }
    if (above)
        (void)buf_printf(&cutter->section, "%s: ", above);
    if (nearest)
        (void)buf_printf(&cutter->section, "%s\n", nearest);
}

/* separator: between it and what the section holds already. */
static void add_to_section(struct cutter *cutter, const char *text, char separator)
{
    bool is_begun = cutter->section.len > 0;
    size_t most = cutter->is_cut_short ? SECTION_MAX_CHARS : SECTION_CHARS;
    if (is_begun && text_length(cutter->section.data) + text_length(text) > most) {
        end_section(cutter);
        is_begun = false;
    }
    if (is_begun)
        (void)buf_append_char(&cutter->section, separator);
    else
        begin_section(cutter);
    (void)buf_append_str(&cutter->section, text);
}

/* Sentences. */

static bool ends_sentence(const char *text)
{
    static const char *const ends[] = {".",  "!",  "?",  ":", "।", "॥",
                                       "。", "！", "？", "؟", "…", "|"};
    size_t len = strlen(text);
    while (len && strchr("\"')]", text[len - 1]))
        len--;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t n = strlen(ends[i]);
        if (len >= n && memcmp(text + len - n, ends[i], n) == 0)
            return true;
    }
    return false;
}

static void take_pieces(struct cutter *cutter, struct splitter *splitter, char *separator)
{
    for (const char *piece; (piece = splitter_next(splitter));) {
        add_to_section(cutter, piece, *separator);
        *separator = ' ';
        cutter->is_cut_short = text_length(piece) > SECTION_CHARS / 2 && !ends_sentence(piece);
    }
}

static void add_sentences(struct cutter *cutter, const char *text, char separator)
{
    struct splitter splitter;
    splitter_init(&splitter, false);
    for (size_t len = strlen(text), at = 0, n; at < len; at += n) {
        n = MIN(len - at, (size_t)SPLITTER_TEXT_MAX_BYTES / 4);
        if (splitter_push(&splitter, text + at, n))
            break;
        take_pieces(cutter, &splitter, &separator);
    }
    splitter_finish(&splitter);
    take_pieces(cutter, &splitter, &separator);
    splitter_clear(&splitter);
    cutter->is_cut_short = false;
}

static void add_text(struct cutter *cutter, const char *text, char separator)
{
    if (text_length(text) > LONGEST_CHARS)
        add_sentences(cutter, text, separator);
    else
        add_to_section(cutter, text, separator);
}

/* Questions. */

static void set_heading(struct cutter *cutter, const char *text, unsigned level)
{
    cutter->headings[level] = text;
    for (unsigned below = level + 1; below < LEVELS; below++)
        cutter->headings[below] = NULL;
}

/* The question is answered, or was none: then it is text like any other. */
static void end_question(struct cutter *cutter)
{
    const char *question = cutter->question;
    if (!question)
        return;
    cutter->question = NULL;
    if (!cutter->answer.len) {
        add_to_section(cutter, question, ' ');
        return;
    }
    if (text_length(cutter->answer.data) <= ANSWER_CHARS) {
        end_section(cutter);
        add_passage(cutter, cutter->answer.data, question);
    } else {
        if (cutter->question_level) {
            end_section(cutter);
            set_heading(cutter, question, cutter->question_level);
        } else {
            add_to_section(cutter, question, ' ');
        }
        add_sentences(cutter, cutter->answer.data, ' ');
    }
    buf_reset(&cutter->answer);
}

static void ask(struct cutter *cutter, const char *question, unsigned level)
{
    end_question(cutter);
    cutter->question = arena_strdup(cutter->arena, question);
    cutter->question_level = level;
}

static void answer(struct cutter *cutter, const char *text)
{
    if (cutter->answer.len)
        (void)buf_append_char(&cutter->answer, '\n');
    (void)buf_append_str(&cutter->answer, text);
}

/* What a line that asks says, or NULL. Labelled ones need no mark. */
static const char *asked_by(const char *line)
{
    const char *labelled = label_after_question(line);
    const char *question = labelled ? labelled : line;
    bool is_short = *question && text_length(question) <= QUESTION_CHARS;
    return is_short && (labelled || label_is_question(question)) ? question : NULL;
}

/* Headings. */

static void add_topic(struct cutter *cutter, const char *topic)
{
    struct text_list *topics = &cutter->out->topics;
    for (size_t i = 0; i < topics->count; i++)
        if (strcmp(topics->items[i], topic) == 0)
            return;
    if (topics->count == TOPICS_MAX)
        return;
    if (!topics->items)
        topics->items = arena_new_n(cutter->arena, const char *, TOPICS_MAX);
    topics->items[topics->count++] = topic;
}

static void take_heading(struct cutter *cutter, const struct block *block)
{
    const char *question = asked_by(block->text);
    unsigned level = MIN(MAX(block->level, 1U), (unsigned)LEVELS - 1);
    if (question) {
        ask(cutter, label_after_number(question), level);
        return;
    }
    end_question(cutter);
    end_section(cutter);
    size_t len = text_bytes(block->text, HEADING_CHARS);
    while (len && strchr(": ", block->text[len - 1]))
        len--;
    if (!len)
        return;
    char *text = arena_strndup(cutter->arena, block->text, len);
    for (char *at = text; (at = strchr(at, '\n'));)
        *at = ' ';
    set_heading(cutter, text, level);
    add_topic(cutter, text);
}

/* Nothing stands below it, and it asks nothing: it is a line of a list, or a notice, like any other
 * text. The first one is the document's title. */
static bool is_bare(const struct block_list *blocks, size_t at)
{
    const struct block *block = &blocks->items[at], *next = block + 1;
    bool is_title = at == 0 && blocks->count > 1;
    bool is_last = at + 1 == blocks->count;
    return !is_title && !asked_by(block->text) &&
           (is_last || (next->kind == BLOCK_HEADING && next->level <= block->level));
}

/* Lines of a key and a value. */

/* "Check-in: from 3 pm", "Deposit – 500 rupees". *out_key_len: without the sign. */
static const char *value_of(const char *line, size_t *out_key_len)
{
    static const char *const signs[] = {": ", " – ", " — ", " = "};
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        const char *at = strstr(line, signs[i]);
        size_t chars = 0;
        for (const char *c = line; at && c < at; c++)
            chars += ((unsigned char)*c & 0xC0) != 0x80;
        if (!at || chars < 2 || chars > KEY_CHARS)
            continue;
        size_t len = (size_t)(at - line);
        if (memchr(line, '.', len) || memchr(line, '?', len) || memchr(line, ',', len))
            continue;
        *out_key_len = len;
        return at + strlen(signs[i]);
    }
    return NULL;
}

/* A card beside the section that has the line: who asks about one of them hears that one. */
static void add_pair(struct cutter *cutter, const char *line, struct passages *cards)
{
    size_t key_len = 0;
    const char *value = value_of(line, &key_len);
    if (!value || !*value || text_length(line) > QUESTION_CHARS)
        return;
    struct passages *all = cutter->out;
    cutter->out = cards;
    add_passage(cutter, line, arena_strndup(cutter->arena, line, key_len));
    cutter->out = all;
}

static bool is_pair(const struct block_list *blocks, size_t at)
{
    size_t key_len;
    return at < blocks->count && blocks->items[at].kind == BLOCK_ITEM &&
           value_of(blocks->items[at].text, &key_len) != NULL;
}

/* Paragraphs. */

/* Lines that go on in the next one are joined with it. */
static void unwrap(char *text)
{
    char *line = text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        bool goes_on = text_length(line) >= WRAPPED_CHARS && !ends_sentence(line);
        *end = goes_on ? ' ' : '\n';
    }
}

static void take_text(struct cutter *cutter, char *text, char separator)
{
    unwrap(text);
    if (cutter->question) {
        answer(cutter, text);
        if (!cutter->question_level)
            end_question(cutter);
        return;
    }
    add_text(cutter, text, separator);
}

/* The next line that is labelled as a question or, while one waits, as an answer. */
static char *find_label(const struct cutter *cutter, char *text, bool *out_asks)
{
    for (char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        *out_asks = label_after_question(line) != NULL;
        if (line != text && (*out_asks || (cutter->question && label_after_answer(line))))
            return line;
    }
    return NULL;
}

/* One part of a paragraph: it begins with a label, or has none. */
static void take_part(struct cutter *cutter, char *text, char separator)
{
    char *rest = strchr(text, '\n');
    if (rest)
        *rest++ = '\0';
    const char *question = asked_by(text);
    if (question) {
        ask(cutter, label_after_number(question), 0);
        if (rest) {
            const char *answer = label_after_answer(rest);
            take_text(cutter, answer ? rest + (answer - rest) : rest, separator);
        }
        return;
    }
    if (rest)
        rest[-1] = '\n';
    const char *answer = cutter->question ? label_after_answer(text) : NULL;
    take_text(cutter, answer ? text + (answer - text) : text, separator);
}

static void take_paragraph(struct cutter *cutter, const char *source, char separator)
{
    char *text = arena_strdup(cutter->arena, source);
    while (text) {
        bool asks = false;
        char *next = find_label(cutter, text, &asks);
        if (next)
            next[-1] = '\0';
        take_part(cutter, text, separator);
        text = next;
    }
}

/* Rows. */

static void take_row(struct cutter *cutter, const struct block *block)
{
    AUTO_BUF line = BUF_INIT(TEXT_MAX_BYTES);
    const char *question = NULL, *reply = NULL;
    row_question(block, cutter->arena, &question, &reply);
    if (question) {
        ask(cutter, label_after_number(question), 0);
        answer(cutter, reply);
        end_question(cutter);
        return;
    }
    row_line(&cutter->rows, block, &line);
    if (!line.len)
        return;
    if (cutter->question)
        answer(cutter, line.data);
    else
        add_text(cutter, line.data, '\n');
}

/* The document. */

static void take_item(struct cutter *cutter, const struct block_list *blocks, size_t at,
                      struct passages *cards)
{
    const char *text = blocks->items[at].text;
    if (is_pair(blocks, at) && (is_pair(blocks, at + 1) || (at && is_pair(blocks, at - 1))))
        add_pair(cutter, text, cards);
    take_paragraph(cutter, text, '\n');
}

/* Several lines of one paragraph, most of them a key and a value. */
static void take_pairs(struct cutter *cutter, const char *source, struct passages *cards)
{
    AUTO(arena) scratch = arena_new(0);
    char *text = arena_strdup(scratch, source), *rest = NULL;
    size_t lines = 0, pairs = 0, key_len;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        lines++;
    }
    if (lines < 2 || lines > 200)
        return;
    const char **found = arena_new_n(scratch, const char *, lines);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (!asked_by(line) && !label_after_answer(line) && value_of(line, &key_len))
            found[pairs++] = line;
    if (pairs < 2 || pairs * 2 < lines)
        return;
    for (size_t i = 0; i < pairs; i++)
        add_pair(cutter, found[i], cards);
}

static void take_block(struct cutter *cutter, const struct block_list *blocks, size_t at,
                       struct passages *cards)
{
    const struct block *block = &blocks->items[at];
    if (block->kind != BLOCK_ROW)
        row_end(&cutter->rows);
    switch (block->kind) {
    case BLOCK_HEADING:
        if (is_bare(blocks, at))
            take_paragraph(cutter, block->text, '\n');
        else
            take_heading(cutter, block);
        break;
    case BLOCK_ITEM:
        take_item(cutter, blocks, at, cards);
        break;
    case BLOCK_ROW:
        if (block->level != ROW_DATA)
            row_begin(&cutter->rows, blocks, at, cutter->arena);
        take_row(cutter, block);
        break;
    default:
        take_pairs(cutter, block->text, cards);
        take_paragraph(cutter, block->text, ' ');
    }
}

/* Cards of pairs follow the sections that have their lines. */
static void add_cards(struct cutter *cutter, const struct passages *cards)
{
    for (size_t i = 0; i < cards->count; i++)
        add_passage(cutter, cards->items[i].text, cards->items[i].question);
}

static bool is_off(const _Atomic bool *is_unwanted)
{
    return is_unwanted && atomic_load_explicit(is_unwanted, memory_order_relaxed);
}

enum err passages_of(const struct block_list *blocks, const _Atomic bool *is_unwanted,
                     struct arena *arena, struct passages *out)
{
    *out = (struct passages){0};
    struct passages cards = {0};
    struct cutter cutter = {.arena = arena,
                            .out = out,
                            .answer = BUF_INIT(TEXT_MAX_BYTES),
                            .section = BUF_INIT(TEXT_MAX_BYTES)};
    for (size_t i = 0; i < blocks->count && !is_off(is_unwanted); i++)
        take_block(&cutter, blocks, i, &cards);
    end_question(&cutter);
    end_section(&cutter);
    add_cards(&cutter, &cards);
    for (unsigned level = 1; level < LEVELS && !out->count; level++)
        if (cutter.headings[level]) /* a title and nothing more */
            add_passage(&cutter, cutter.headings[level], NULL);
    buf_clear(&cutter.answer);
    buf_clear(&cutter.section);
    if (is_off(is_unwanted))
        return ERR_CLOSED;
    return out->count ? OK : ERR_INVALID;
}

enum err passages_cut(const char *text, const _Atomic bool *is_unwanted, struct arena *arena,
                      struct passages *out)
{
    struct block_writer writer;
    struct block_reader reader;
    block_writer_init(&writer, -1);
    block_reader_init(&reader, arena);
    enum err err = is_off(is_unwanted) ? ERR_CLOSED : plain_read(text, &writer);
    if (!err && writer.buf.len)
        err = block_reader_push(&reader, writer.buf.data, writer.buf.len);
    if (!err)
        err = passages_of(&reader.blocks, is_unwanted, arena, out);
    block_reader_clear(&reader);
    block_writer_clear(&writer);
    return err;
}
