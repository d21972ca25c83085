/* See plain.h. The text goes by line; lines that belong together are gathered in `paragraph`.
 * Thread: any. */
#include "extract/plain.h"

#include <ctype.h>
#include <string.h>

#include "text/words.h"

enum {
    HEADING_CHARS = 80,
    LEADING_CHARS =
        60, /* of a heading that stands right above its text; wrapped lines are longer */
    MARKED_HEADING_CHARS = 200,
    PARAGRAPH_MAX_BYTES = 16 * 1024 * 1024,
    CELLS_MAX = 64,
};

struct plain {
    struct block_writer *out;
    struct buf paragraph; /* lines, '\n' between */
    size_t lines;
    bool is_item;  /* it is one of a list */
    bool leads_in; /* a list follows at once */
    bool is_in_table;
    enum err err;
};

static void emit(struct plain *plain, enum block_kind kind, unsigned level, const char *text)
{
    if (!plain->err)
        plain->err = block_write(plain->out, kind, level, 0, text);
}

/* What a line is. */

static bool ends_with_any(const char *text, size_t len, const char *const *endings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(endings[i]);
        if (len >= n && memcmp(text + len - n, endings[i], n) == 0)
            return true;
    }
    return false;
}

/* A short line alone that does not end as a sentence does. */
static bool is_heading(const char *line)
{
    static const char *const ends[] = {".", "!", ";", ",", "?", "।", "。", "？", "؟"};
    bool has_letter = false;
    for (const char *at = line; *at && !has_letter; at++)
        has_letter = isalnum((unsigned char)*at) || (unsigned char)*at >= 0x80;
    return has_letter && text_length(line) <= HEADING_CHARS &&
           !ends_with_any(line, strlen(line), ends, ARRAY_LEN(ends));
}

/* '#' to '######' and a space, or marks alone. */
static unsigned marked_level(const char *line)
{
    size_t n = strspn(line, "#");
    bool is_marked = n > 0 && text_length(line) <= MARKED_HEADING_CHARS;
    return is_marked ? (unsigned)MIN(n, (size_t)9) : 0;
}

/* A line of "===" or "---" under a heading. */
static unsigned underline_level(const char *line)
{
    size_t len = strlen(line);
    if (len < 3)
        return 0;
    return strspn(line, "=") == len ? 1 : strspn(line, "-") == len ? 2 : 0;
}

/* What follows the mark of a list ("-", "*", "•", "1.", "a)"); NULL: no entry of one. */
static const char *after_mark(const char *line)
{
    static const char *const bullets[] = {"-", "*", "+", "•", "◦", "▪", "–", "·"};
    for (size_t i = 0; i < ARRAY_LEN(bullets); i++) {
        size_t n = strlen(bullets[i]);
        if (strncmp(line, bullets[i], n) == 0 && (line[n] == ' ' || line[n] == '\t'))
            return line + n + 1;
    }
    size_t n = strspn(line, "0123456789");
    bool is_number = n > 0 && n <= 3 && (line[n] == '.' || line[n] == ')');
    return is_number && line[n + 1] == ' ' ? line + n + 2 : NULL;
}

/* Tables. */

/* "|---|:--:|" */
static bool is_rule(const char *line)
{
    return strchr(line, '|') && strchr(line, '-') && line[strspn(line, "|-: \t")] == '\0';
}

static bool is_row(const char *line)
{
    size_t len = strlen(line);
    return len > 2 && line[0] == '|' && line[len - 1] == '|';
}

static void emit_row(struct plain *plain, const char *line, enum row_level level)
{
    AUTO_BUF cells = BUF_INIT(PARAGRAPH_MAX_BYTES);
    for (const char *at = line + 1; *at;) {
        size_t n = strcspn(at, "|");
        if (at[n] == '\0')
            break;
        if (at > line + 1)
            (void)buf_append_char(&cells, '\t');
        (void)buf_append(&cells, at, n);
        at += n + 1;
    }
    if (cells.len)
        emit(plain, BLOCK_ROW, level, cells.data);
}

/* Paragraphs. */

/* The text below a first line that is its heading, or NULL: the line is short and ends as none of a
 * sentence, and what is below it is longer and ends as one. "Check-in: from 3 pm" is none. */
static const char *below_heading(const char *paragraph)
{
    static const char *const ends[] = {".", "!", "?", "।", "。", "？", "؟"};
    const char *end = strchr(paragraph, '\n');
    if (!end)
        return NULL;
    AUTO_BUF first = BUF_INIT(PARAGRAPH_MAX_BYTES);
    (void)buf_append(&first, paragraph, (size_t)(end - paragraph));
    size_t chars = first.len ? text_length(first.data) : 0, len = strlen(end + 1);
    if (!chars || chars > LEADING_CHARS || !is_heading(first.data) || strchr(first.data, ':') ||
        strstr(first.data, ". "))
        return NULL;
    bool is_text = ends_with_any(end + 1, len, ends, ARRAY_LEN(ends));
    return is_text && text_length(end + 1) > chars ? end + 1 : NULL;
}

static void end_paragraph(struct plain *plain)
{
    enum block_kind kind = plain->is_item ? BLOCK_ITEM : BLOCK_PARAGRAPH;
    if (plain->lines == 1 && !plain->is_item && !plain->leads_in &&
        is_heading(plain->paragraph.data))
        kind = BLOCK_HEADING;
    const char *below = plain->lines > 1 && !plain->is_item && !plain->leads_in
                            ? below_heading(plain->paragraph.data)
                            : NULL;
    if (below) {
        plain->paragraph.data[below - 1 - plain->paragraph.data] = '\0';
        emit(plain, BLOCK_HEADING, 2, plain->paragraph.data);
        emit(plain, BLOCK_PARAGRAPH, 1, below);
    } else if (plain->lines) {
        emit(plain, kind, 1, plain->paragraph.data);
    }
    buf_reset(&plain->paragraph);
    plain->lines = 0;
    plain->is_item = plain->leads_in = false;
}

static void add_line(struct plain *plain, const char *line)
{
    if (plain->lines++)
        (void)buf_append_char(&plain->paragraph, '\n');
    (void)buf_append_str(&plain->paragraph, line);
}

static void take_marked(struct plain *plain, const char *line, unsigned level)
{
    end_paragraph(plain);
    line += strspn(line, "# \t");
    AUTO_BUF title = BUF_INIT(PARAGRAPH_MAX_BYTES);
    (void)buf_append_str(&title, line);
    while (title.len && strchr("# \t", title.data[title.len - 1]))
        title.data[--title.len] = '\0';
    if (title.len)
        emit(plain, BLOCK_HEADING, level, title.data);
}

/* A rule below the first row makes it the header: so a row is only known with the next line. */
static void take_row(struct plain *plain, const char *line, const char *next)
{
    end_paragraph(plain);
    if (is_rule(line))
        return;
    enum row_level level = plain->is_in_table ? ROW_DATA : ROW_FIRST;
    if (!plain->is_in_table && next && is_rule(next))
        level = ROW_HEADER;
    emit_row(plain, line, level);
    plain->is_in_table = true;
}

/* line: trimmed; next: the one below it, or NULL. */
static void take_line(struct plain *plain, const char *line, const char *next)
{
    unsigned level = marked_level(line);
    const char *entry = after_mark(line);
    if (is_row(line)) {
        take_row(plain, line, next);
        return;
    }
    plain->is_in_table = false;
    if (!*line) {
        end_paragraph(plain);
    } else if (level) {
        take_marked(plain, line, level);
    } else if (plain->lines == 1 && !plain->is_item && underline_level(line) &&
               is_heading(plain->paragraph.data)) {
        emit(plain, BLOCK_HEADING, underline_level(line), plain->paragraph.data);
        buf_reset(&plain->paragraph);
        plain->lines = 0;
    } else if (entry) {
        plain->leads_in = true;
        end_paragraph(plain);
        plain->is_item = true;
        add_line(plain, entry);
    } else {
        add_line(plain, line);
    }
}

static size_t trim(const char **line, size_t len)
{
    while (len && isspace((unsigned char)(*line)[len - 1]))
        len--;
    while (len && isspace((unsigned char)**line)) {
        ++*line;
        len--;
    }
    return len;
}

/* ERR_LIMIT: it is longer than a document may be. */
static enum err set_line(struct buf *out, const char *line, size_t len)
{
    len = trim(&line, len);
    buf_reset(out);
    return buf_append(out, line, len);
}

enum err plain_read(const char *text, struct block_writer *out)
{
    struct plain plain = {.out = out, .paragraph = BUF_INIT(PARAGRAPH_MAX_BYTES)};
    AUTO_BUF line = BUF_INIT(PARAGRAPH_MAX_BYTES);
    AUTO_BUF next = BUF_INIT(PARAGRAPH_MAX_BYTES);
    const char *ends = strchr(text, '\n') ? "\n\f\v" : "\r\f\v"; /* old files have "\r" alone */
    size_t len = strcspn(text, ends);
    plain.err = set_line(&next, text, len);
    for (bool is_last = false; !is_last && !plain.err;) {
        text += len;
        is_last = *text == '\0';
        const struct buf swap = line;
        line = next;
        next = swap;
        if (!is_last) {
            text++;
            len = strcspn(text, ends);
            plain.err = set_line(&next, text, len);
        }
        take_line(&plain, line.len ? line.data : "", is_last || !next.len ? NULL : next.data);
    }
    end_paragraph(&plain);
    buf_clear(&plain.paragraph);
    return plain.err;
}
