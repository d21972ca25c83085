/* See passages.h. The text is read line by line into paragraphs; a paragraph is a heading, a card,
 * half of one, or goes into the section that is being filled. Thread: any. */
#include "know/passages.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "know/language.h"
#include "text/sentence.h"
#include "text/words.h"

enum {
    SECTION_CHARS = 400, /* some three spoken sentences: what one answer can use */
    LONGEST_CHARS = 600, /* a paragraph beyond it is cut between sentences */
    HEADING_CHARS = 80,
    MARKED_HEADING_CHARS = 200,
    QUESTION_CHARS = 300,
    ANSWER_CHARS = 1500, /* a longer one is sections below its question */
    TOPICS_MAX = 30,
    PASSAGES_MAX = 20000,
    TEXT_MAX_BYTES = 16 * 1024 * 1024,
};

struct cutter {
    struct arena *arena;
    struct passages *out;
    const char *heading;  /* above the current section, or NULL */
    const char *question; /* waits for its answer, or NULL */
    struct buf paragraph; /* lines, '\n' between */
    struct buf section;
};

/* --- lines --- */

static const char *skip_space(const char *text)
{
    while (*text && isspace((unsigned char)*text))
        text++;
    return text;
}

static bool ends_with_any(const char *text, const char *const *endings, size_t count)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(endings[i]);
        if (len >= n && strcmp(text + len - n, endings[i]) == 0)
            return true;
    }
    return false;
}

static bool is_question(const char *line)
{
    static const char *const marks[] = {"?", "\xEF\xBC\x9F" /* full width */, "\xD8\x9F"};
    return ends_with_any(line, marks, ARRAY_LEN(marks));
}

/* A short line alone that does not end as a sentence does. */
static bool is_heading(const char *line)
{
    static const char *const ends[] = {".",           "!", ";", ",", "\xE0\xA5\xA4" /* danda */,
                                       "\xE3\x80\x82" /* ideographic full stop */};
    if (*line == '#')
        return text_length(line) <= MARKED_HEADING_CHARS;
    return text_length(line) <= HEADING_CHARS && *line != '-' && *line != '*' &&
           !ends_with_any(line, ends, ARRAY_LEN(ends)) && !is_question(line);
}

/* Behind "Q:", "A:" and the like; NULL when the line does not begin so. */
static const char *behind_label(const char *line, const char *const *labels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(labels[i]);
        if (strncasecmp(line, labels[i], n) == 0 &&
            (line[n] == ':' || (line[n] == '.' && line[n + 1] == ' ')))
            return skip_space(line + n + 1);
    }
    return NULL;
}

static const char *behind_question_label(const char *line)
{
    static const char *const labels[] = {"q", "question", "faq"};
    return behind_label(line, labels, ARRAY_LEN(labels));
}

static const char *behind_answer_label(const char *line)
{
    static const char *const labels[] = {"a", "ans", "answer"};
    const char *behind = behind_label(line, labels, ARRAY_LEN(labels));
    return behind ? behind : line;
}

/* --- passages --- */

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
}

static void add_to_section(struct cutter *cutter, const char *text)
{
    bool is_begun = cutter->section.len > 0;
    if (is_begun && text_length(cutter->section.data) + text_length(text) > SECTION_CHARS) {
        end_section(cutter);
        is_begun = false;
    }
    if (!is_begun && cutter->heading)
        (void)buf_printf(&cutter->section, "%s\n", cutter->heading);
    if (is_begun)
        (void)buf_append_char(&cutter->section, ' ');
    (void)buf_append_str(&cutter->section, text);
}

static void add_sentences(struct cutter *cutter, const char *text)
{
    struct splitter splitter;
    splitter_init(&splitter, false);
    for (size_t len = strlen(text), at = 0, n; at < len; at += n) {
        n = MIN(len - at, (size_t)SPLITTER_TEXT_MAX_BYTES / 4);
        if (splitter_push(&splitter, text + at, n))
            break;
        for (const char *piece; (piece = splitter_next(&splitter));)
            add_to_section(cutter, piece);
    }
    splitter_finish(&splitter);
    for (const char *piece; (piece = splitter_next(&splitter));)
        add_to_section(cutter, piece);
    splitter_clear(&splitter);
}

static void add_heading(struct cutter *cutter, const char *line)
{
    end_section(cutter);
    while (*line == '#' || *line == ' ')
        line++;
    size_t len = strlen(line);
    while (len && (line[len - 1] == ':' || line[len - 1] == '#' || line[len - 1] == ' '))
        len--;
    cutter->heading = len ? arena_strndup(cutter->arena, line, len) : NULL;
    struct text_list *topics = &cutter->out->topics;
    if (!len || topics->count == TOPICS_MAX)
        return;
    if (!topics->items)
        topics->items = arena_new_n(cutter->arena, const char *, TOPICS_MAX);
    topics->items[topics->count++] = cutter->heading;
}

/* A question that nothing answered is text like any other. */
static void drop_question(struct cutter *cutter)
{
    if (cutter->question)
        add_to_section(cutter, cutter->question);
    cutter->question = NULL;
}

static void add_card(struct cutter *cutter, const char *question, const char *answer)
{
    answer = behind_answer_label(answer);
    cutter->question = NULL;
    if (text_length(answer) > ANSWER_CHARS) {
        add_to_section(cutter, question);
        add_sentences(cutter, answer);
        return;
    }
    end_section(cutter);
    add_passage(cutter, answer, question);
}

/* --- paragraphs --- */

static void take_paragraph(struct cutter *cutter, char *text)
{
    const char *labelled = behind_question_label(text);
    char *rest = strchr(text, '\n');
    if (rest)
        *rest++ = '\0';
    const char *first = labelled ? labelled : text;
    bool is_short = *first && text_length(first) <= QUESTION_CHARS;
    if (is_short && (labelled || is_question(first))) {
        drop_question(cutter);
        if (rest)
            add_card(cutter, first, rest);
        else
            cutter->question = arena_strdup(cutter->arena, first);
        return;
    }
    if (rest)
        rest[-1] = '\n';
    if (cutter->question) {
        add_card(cutter, cutter->question, text);
        return;
    }
    if (!rest && is_heading(text))
        add_heading(cutter, text);
    else if (text_length(text) > LONGEST_CHARS)
        add_sentences(cutter, text);
    else
        add_to_section(cutter, text);
}

static void end_paragraph(struct cutter *cutter)
{
    if (!cutter->paragraph.len)
        return;
    AUTO_BUF text = cutter->paragraph;
    cutter->paragraph = (struct buf)BUF_INIT(TEXT_MAX_BYTES);
    take_paragraph(cutter, text.data);
}

/* A heading of a marked-up text stands alone even without empty lines around it. */
static void take_line(struct cutter *cutter, const char *line, size_t len)
{
    while (len && isspace((unsigned char)line[len - 1]))
        len--;
    AUTO_BUF text = BUF_INIT(TEXT_MAX_BYTES);
    (void)buf_append(&text, line, len);
    const char *trimmed = skip_space(len ? text.data : "");
    bool is_mark = *trimmed == '#';
    if (!*trimmed || is_mark || behind_question_label(trimmed))
        end_paragraph(cutter);
    if (!*trimmed)
        return;
    if (cutter->paragraph.len)
        (void)buf_append_char(&cutter->paragraph, '\n');
    (void)buf_append_str(&cutter->paragraph, trimmed);
    if (is_mark)
        end_paragraph(cutter);
}

enum err passages_cut(const char *text, struct arena *arena, struct passages *out)
{
    *out = (struct passages){0};
    struct cutter cutter = {.arena = arena,
                            .out = out,
                            .paragraph = BUF_INIT(TEXT_MAX_BYTES),
                            .section = BUF_INIT(TEXT_MAX_BYTES)};
    while (*text) {
        size_t len = strcspn(text, "\n\f\v");
        take_line(&cutter, text, len);
        text += len + (text[len] != '\0');
    }
    end_paragraph(&cutter);
    drop_question(&cutter);
    end_section(&cutter);
    if (!out->count && cutter.heading) /* a text of nothing but one short line */
        add_passage(&cutter, cutter.heading, NULL);
    buf_clear(&cutter.paragraph);
    buf_clear(&cutter.section);
    return out->count ? OK : ERR_INVALID;
}
