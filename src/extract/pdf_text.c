/* See pdf.h. Lines become paragraphs, headings and entries of lists by their size, their distance,
 * their indent and how they end; a word that was parted at a line's end is put together.
 * Thread: the main thread of the extractor. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "extract/pdf.h"

enum {
    HEADING_CHARS = 120,
    PLAIN_HEADING_CHARS = 60, /* of one in the size of the text */
    PLAIN_HEADING_WORDS = 9,
    PLAIN_HEADING_LEVEL = 6,
    SIZES_MAX = 5,
    TEXT_MAX_BYTES = 1 << 24,
    HISTOGRAM = 400,
};
static const float LARGER = 1.12F, /* than the text: a heading */
    PARAGRAPH_GAP = 1.28F,         /* of the usual distance of two lines */
    SHORT = 0.12F,                 /* of the width that a line leaves at a paragraph's end */
    INDENT = 0.6F;                 /* of the height */

struct writer {
    const struct pdf_document *document;
    struct block_writer *out;
    struct map *words;      /* all words of the document, as they stand */
    float size, pitch;      /* of the text: height of a line, distance of two */
    float sizes[SIZES_MAX]; /* of headings, the largest first */
    size_t size_count;
    struct buf text;     /* of the paragraph */
    size_t first, lines; /* its lines */
    bool is_item;
    enum err err;
};

/* Lines. */

bool pdf_is_bullet(const char *text)
{
    static const char *const bullets[] = {"•", "◦", "▪", "●", "○", "■", "□", "‣", "–",
                                          "—", "-", "*", "·", "∙", "✓", "➢", "❖", ""};
    for (size_t i = 0; i < ARRAY_LEN(bullets); i++)
        if (strcmp(text, bullets[i]) == 0)
            return true;
    return false;
}

bool pdf_is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789."), len = strlen(text);
    bool is_letter = len == 2 && isalpha((unsigned char)text[0]);
    bool counts = digits > 0 && digits <= 8 && isdigit((unsigned char)text[0]);
    return (counts && digits == len) ||
           ((counts || is_letter) && len == (is_letter ? 1 : digits) + 1 &&
            strchr(".)", text[len - 1]));
}

void pdf_line_text(const struct pdf_line *line, struct buf *out)
{
    for (size_t i = 0; i < line->count; i++)
        (void)buf_printf(out, "%s%s", i ? " " : "", line->cells[i].text);
}

static float height(const struct pdf_line *line)
{
    return line->box.y1 - line->box.y0;
}

static float distance(const struct pdf_line *line, const struct pdf_line *above)
{
    return (line->box.y0 + line->box.y1 - above->box.y0 - above->box.y1) / 2;
}

static size_t chars_of(const struct pdf_line *line)
{
    size_t chars = 0;
    for (size_t i = 0; i < line->count; i++)
        chars += utf8_count(line->cells[i].text);
    return chars;
}

static bool ends_sentence(const char *text)
{
    static const char *const ends[] = {".", "!", "?", ":", ";", "।", "。", "؟", "”", "\"", ")"};
    size_t len = strlen(text);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t n = strlen(ends[i]);
        if (len >= n && memcmp(text + len - n, ends[i], n) == 0)
            return true;
    }
    return false;
}

/* The usual size and distance. */

static float most_frequent(const size_t counts[HISTOGRAM])
{
    size_t best = 0;
    for (size_t i = 1; i < HISTOGRAM; i++)
        if (counts[i] > counts[best])
            best = i;
    return (float)best / 4;
}

static void measure(struct writer *writer)
{
    size_t sizes[HISTOGRAM] = {0}, pitches[HISTOGRAM] = {0};
    const struct pdf_document *document = writer->document;
    for (size_t i = 0; i < document->count; i++) {
        const struct pdf_line *line = &document->lines[i];
        size_t size = (size_t)(height(line) * 4 + 0.5F);
        if (line->count && size < HISTOGRAM)
            sizes[size] += chars_of(line);
        float pitch = i && line->region == line[-1].region ? distance(line, line - 1) : 0;
        if (pitch > 0 && pitch * 4 < HISTOGRAM)
            pitches[(size_t)(pitch * 4 + 0.5F) % HISTOGRAM]++;
    }
    writer->size = MAX(most_frequent(sizes), 1.0F);
    writer->pitch = MAX(most_frequent(pitches), 1.0F);
}

static bool is_larger(const struct writer *writer, const struct pdf_line *line)
{
    return height(line) > LARGER * writer->size && chars_of(line) <= HEADING_CHARS;
}

static void add_size(struct writer *writer, float size)
{
    size_t at = 0;
    while (at < writer->size_count && writer->sizes[at] > size * 1.04F)
        at++;
    if (at == SIZES_MAX || (at < writer->size_count && writer->sizes[at] > size * 0.96F))
        return;
    writer->size_count = MIN(writer->size_count + 1, (size_t)SIZES_MAX);
    for (size_t i = writer->size_count - 1; i > at; i--)
        writer->sizes[i] = writer->sizes[i - 1];
    writer->sizes[at] = size;
}

static unsigned level_of(const struct writer *writer, float size)
{
    unsigned level = 1;
    while (level < writer->size_count && writer->sizes[level - 1] > size * 1.04F)
        level++;
    return level;
}

/* Parted words. */

static void note_words(struct writer *writer)
{
    for (size_t i = 0; i < writer->document->count; i++) {
        const struct pdf_line *line = &writer->document->lines[i];
        for (size_t c = 0; c < line->count; c++)
            for (const char *at = line->cells[c].text; *at;) {
                size_t n = strcspn(at, " ");
                while (n && strchr(".,;:!?)", at[n - 1]))
                    n--;
                if (n > 3)
                    map_set(writer->words, at, n, writer);
                at += strcspn(at, " ");
                at += *at == ' ';
            }
    }
}

static size_t last_word(const struct buf *text)
{
    size_t at = text->len;
    while (at && text->data[at - 1] != ' ')
        at--;
    return at;
}

/* "dol-" and "lars" are one word; "well-" and "known" stay apart if the document writes them so
 * elsewhere, and not the other way. */
static bool is_parted(struct writer *writer, const char *next)
{
    struct buf *text = &writer->text;
    uint32_t code = 0;
    size_t len = text->len, hyphen = 1;
    if (len > 2 && (memcmp(text->data + len - 2, "\xC2\xAD", 2) == 0))
        hyphen = 2;
    else if (len > 3 && memcmp(text->data + len - 3, "\xE2\x80\x90", 3) == 0)
        hyphen = 3;
    else if (len < 3 || text->data[len - 1] != '-' || text->data[len - 2] == ' ')
        return false;
    if (!utf8_decode(next, strlen(next), &code) || (code < 0x80 && !islower((int)code)))
        return false;
    size_t from = last_word(text), stem = len - hyphen - from;
    size_t tail = strcspn(next, " .,;:!?)");
    AUTO_BUF kept = BUF_INIT(TEXT_MAX_BYTES), joined = BUF_INIT(TEXT_MAX_BYTES);
    (void)buf_append(&kept, text->data + from, stem);
    (void)buf_append(&joined, text->data + from, stem);
    (void)buf_append_char(&kept, '-');
    (void)buf_append(&kept, next, tail);
    (void)buf_append(&joined, next, tail);
    bool keeps = map_get(writer->words, kept.data, kept.len) &&
                 !map_get(writer->words, joined.data, joined.len);
    if (!keeps) {
        text->len -= hyphen;
        text->data[text->len] = '\0';
    }
    return true;
}

/* Paragraphs. */

static bool is_short_title(const char *text)
{
    size_t words = 1;
    for (const char *at = text; *at; at++)
        words += *at == ' ';
    bool has_letter = false;
    for (const char *at = text; *at; at++)
        has_letter |= isalpha((unsigned char)*at) || (unsigned char)*at >= 0x80;
    return has_letter && words <= PLAIN_HEADING_WORDS && utf8_count(text) <= PLAIN_HEADING_CHARS &&
           !islower((unsigned char)*text) && !ends_sentence(text) && text[strlen(text) - 1] != ',';
}

/* One line alone, short, without a stop, with the text that it stands over right below it. */
static bool is_plain_heading(const struct writer *writer)
{
    const struct pdf_line *line = &writer->document->lines[writer->first];
    size_t next = writer->first + 1;
    bool has_text = next < writer->document->count && line[1].count == 1 &&
                    line[1].region == line->region && distance(&line[1], line) > 0 &&
                    distance(&line[1], line) < 3 * writer->pitch;
    return writer->lines == 1 && has_text && line->rest > SHORT * line->width &&
           is_short_title(writer->text.data);
}

static void end_paragraph(struct writer *writer)
{
    if (writer->lines && !writer->err && writer->text.len) {
        const struct pdf_line *line = &writer->document->lines[writer->first];
        const char *text = writer->text.data;
        unsigned page = line->page;
        if (is_larger(writer, line) && writer->lines <= 3 && !writer->is_item)
            writer->err =
                block_write(writer->out, BLOCK_HEADING, level_of(writer, height(line)), page, text);
        else if (writer->is_item)
            writer->err = block_write(writer->out, BLOCK_ITEM, 1, page, text);
        else if (is_plain_heading(writer))
            writer->err = block_write(writer->out, BLOCK_HEADING, PLAIN_HEADING_LEVEL, page, text);
        else
            writer->err = block_write(writer->out, BLOCK_PARAGRAPH, 0, page, text);
    }
    buf_reset(&writer->text);
    writer->lines = 0;
    writer->is_item = false;
}

/* Does the text of the line before go on in this one, in the next column or on the next page? */
static bool goes_over(const struct writer *writer, const struct pdf_line *line)
{
    uint32_t code = 0;
    const char *text = line->cells[0].text;
    (void)utf8_decode(text, strlen(text), &code);
    bool is_small = code >= 0x80 ? true : islower((int)code) != 0;
    return is_small && !ends_sentence(writer->text.data) && !is_larger(writer, line);
}

static bool begins_paragraph(const struct writer *writer, const struct pdf_line *line,
                             const struct pdf_line *above)
{
    if (line->region != above->region || line->page != above->page)
        return !goes_over(writer, line);
    float step = distance(line, above), size = MAX(height(line), height(above));
    float least = MIN(height(line), height(above));
    if (step <= 0 || step > PARAGRAPH_GAP * MAX(writer->pitch, 0.8F * size) ||
        size > LARGER * least)
        return true;
    bool is_indented = line->indent > above->indent + INDENT * height(line);
    bool was_last = above->rest > SHORT * above->width && ends_sentence(writer->text.data);
    if (writer->is_item)
        return !is_indented && line->indent < above->indent - INDENT * height(line);
    return was_last || (is_indented && above->rest < INDENT * height(above) &&
                        ends_sentence(writer->text.data));
}

static void add_text(struct writer *writer, const char *text)
{
    if (writer->text.len && !is_parted(writer, text))
        (void)buf_append_char(&writer->text, ' ');
    (void)buf_append_str(&writer->text, text);
}

/* Where the line's text begins: after the bullet of a list's entry. */
static const char *after_bullet(const struct pdf_line *line, size_t *out_cell)
{
    const char *text = line->cells[0].text;
    *out_cell = 0;
    if (line->count > 1 && pdf_is_bullet(text)) {
        *out_cell = 1;
        return line->cells[1].text;
    }
    const char *space = strchr(text, ' ');
    char first[8];
    if (!space || space - text >= (ptrdiff_t)sizeof(first))
        return NULL;
    memcpy(first, text, (size_t)(space - text));
    first[space - text] = '\0';
    return pdf_is_bullet(first) ? space + 1 : NULL;
}

static bool begins_with_number(const struct pdf_line *line)
{
    char first[12];
    size_t n = strcspn(line->cells[0].text, " ");
    if (n >= sizeof(first))
        return false;
    memcpy(first, line->cells[0].text, n);
    first[n] = '\0';
    return pdf_is_number(first) && (line->count > 1 || line->cells[0].text[n]);
}

static void take_line(struct writer *writer, size_t at)
{
    const struct pdf_line *line = &writer->document->lines[at];
    size_t cell = 0;
    const char *entry = after_bullet(line, &cell);
    bool is_number = !entry && begins_with_number(line) && !is_larger(writer, line);
    if (writer->lines &&
        (entry || (is_number && ends_sentence(writer->text.data)) ||
         begins_paragraph(writer, line,
                          &writer->document->lines[writer->first + writer->lines - 1])))
        end_paragraph(writer);
    if (!writer->lines) {
        writer->first = at;
        writer->is_item = entry != NULL;
    }
    for (size_t i = cell; i < line->count; i++)
        add_text(writer, i == cell && entry ? entry : line->cells[i].text);
    writer->lines = at + 1 - writer->first;
}

/* The lines of a paragraph follow each other: dropped ones must not stand between. */
static void drop_empty(struct pdf_document *document)
{
    size_t kept = 0;
    for (size_t i = 0; i < document->count; i++)
        if (document->lines[i].count)
            document->lines[kept++] = document->lines[i];
    document->count = kept;
}

enum err pdf_write(struct pdf_document *document, struct block_writer *out)
{
    struct writer writer = {
        .document = document, .out = out, .words = map_new(), .text = BUF_INIT(TEXT_MAX_BYTES)};
    drop_empty(document);
    measure(&writer);
    note_words(&writer);
    for (size_t i = 0; i < document->count; i++)
        if (is_larger(&writer, &document->lines[i]))
            add_size(&writer, height(&document->lines[i]));
    for (size_t i = 0; i < document->count && !writer.err;) {
        size_t rows = pdf_table_lines(document, i);
        if (rows)
            end_paragraph(&writer);
        if (rows && !writer.err)
            writer.err = pdf_table_write(document, i, out);
        if (!rows)
            take_line(&writer, i);
        i += MAX(rows, (size_t)1);
    }
    end_paragraph(&writer);
    map_free(writer.words);
    buf_clear(&writer.text);
    return writer.err;
}
