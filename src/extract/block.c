/* See block.h. Thread: its owner's. */
#include "extract/block.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

enum {
    HEAD_BYTES = 12,
    WRITE_AT_BYTES = 64 * 1024,
    KEPT_MAX_BYTES = 64 * 1024 * 1024,
};

static const char *const sentences[EXTRACT_OUTCOME_COUNT] = {
    [EXTRACT_DONE] = "",
    [EXTRACT_EMPTY] = "There is no text in it.",
    [EXTRACT_SCANNED] =
        "There are only pictures of pages in it (a scan): their text must be recognised before.",
    [EXTRACT_ENCRYPTED] = "It is encrypted: take the password off and add it again.",
    [EXTRACT_DAMAGED] = "It is damaged: it could not be read to its end.",
    [EXTRACT_TOO_LONG] = "The text is longer than 2,000,000 characters.",
    [EXTRACT_TOO_BIG] = "It is larger unpacked than a document may be.",
    [EXTRACT_TOO_SLOW] = "Reading it takes longer than a document may take.",
    [EXTRACT_TOO_DEEP] = "Its parts are nested deeper than a document may be.",
    [EXTRACT_NO_TEXT] = "It is no text in any encoding that is known here.",
    [EXTRACT_NO_PROGRAM] = "Files of this kind cannot be read here: pdftotext is not installed.",
    [EXTRACT_BROKEN] = "Reading it broke off: the file is damaged, or asks for too much memory.",
};

const char *extract_sentence(enum extract_outcome outcome)
{
    return sentences[outcome];
}

enum extract_outcome extract_outcome_of_signal(int signal_number)
{
    return signal_number == SIGXCPU || signal_number == SIGKILL ? EXTRACT_TOO_SLOW : EXTRACT_BROKEN;
}

static const char types[BLOCK_KIND_COUNT] = {'H', 'P', 'I', 'R'};

/* In the extractor. */

void block_writer_init(struct block_writer *writer, int fd)
{
    *writer = (struct block_writer){.fd = fd, .buf = BUF_INIT(KEPT_MAX_BYTES)};
}

void block_writer_clear(struct block_writer *writer)
{
    buf_clear(&writer->buf);
}

static void flush(struct block_writer *writer, size_t least)
{
    if (writer->fd < 0 || writer->buf.len < least)
        return;
    for (size_t at = 0; at < writer->buf.len && !writer->is_lost;) {
        ssize_t n = write(writer->fd, writer->buf.data + at, writer->buf.len - at);
        if (n > 0)
            at += (size_t)n;
        else if (errno != EINTR)
            writer->is_lost = true;
    }
    buf_reset(&writer->buf);
}

static void put_number(uint8_t *at, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> (8 * i));
}

static void put_frame(struct block_writer *writer, char type, unsigned level, unsigned page,
                      size_t len)
{
    uint8_t head[HEAD_BYTES] = {(uint8_t)type, (uint8_t)level};
    put_number(head + 4, page);
    put_number(head + 8, (uint32_t)len);
    (void)buf_append(&writer->buf, head, sizeof(head));
}

/* Controls and what is no UTF-8 become spaces or nothing; several blanks become one. */
static void clean(const char *text, enum block_kind kind, struct buf *out)
{
    size_t len = strlen(text);
    bool is_blank = false;
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        size_t n = utf8_decode(text + at, len - at, &code);
        size_t from = at;
        at += n ? n : 1;
        if (!n || code == 0xFEFF || code == 0xAD || code == 0x200B || code == 0xFFFE ||
            (code < ' ' && !strchr("\t\n\v\f\r", (int)code)) || (code >= 0x7F && code < 0xA0))
            continue;
        bool is_mark = code == '\n' || (code == '\t' && kind == BLOCK_ROW);
        if (is_mark) {
            while (out->len && out->data[out->len - 1] == ' ')
                out->len--;
            (void)buf_append_char(out, (char)code);
            is_blank = true;
        } else if (code <= ' ' || code == 0xA0) {
            if (!is_blank && out->len)
                (void)buf_append_char(out, ' ');
            is_blank = true;
        } else {
            (void)buf_append(out, text + from, n);
            is_blank = false;
        }
    }
}

static size_t trimmed(const struct buf *text, size_t *out_from)
{
    size_t from = 0, to = text->len;
    while (from < to && strchr(" \n", text->data[from]))
        from++;
    while (to > from && strchr(" \n", text->data[to - 1]))
        to--;
    *out_from = from;
    return to - from;
}

static enum err write_piece(struct block_writer *writer, const struct block *block, size_t len)
{
    size_t chars = 0;
    for (size_t i = 0; i < len; i++)
        chars += ((unsigned char)block->text[i] & 0xC0) != 0x80;
    if (writer->chars + chars > EXTRACT_CHARS_MAX || writer->blocks == EXTRACT_BLOCKS_MAX)
        return ERR_LIMIT;
    writer->chars += chars;
    writer->blocks++;
    put_frame(writer, types[block->kind], block->level, block->page, len);
    (void)buf_append(&writer->buf, block->text, len);
    flush(writer, WRITE_AT_BYTES);
    return writer->is_lost ? ERR_CLOSED : writer->buf.is_full ? ERR_LIMIT : OK;
}

enum err block_write(struct block_writer *writer, enum block_kind kind, unsigned level,
                     unsigned page, const char *text)
{
    AUTO_BUF cleaned = BUF_INIT(KEPT_MAX_BYTES);
    size_t from = 0;
    clean(text, kind, &cleaned);
    size_t len = cleaned.len ? trimmed(&cleaned, &from) : 0;
    if (len && strspn(cleaned.data + from, "\t\n ") >= len)
        return OK; /* a row of empty cells */
    while (len) {
        size_t n = MIN(len, (size_t)EXTRACT_BLOCK_BYTES);
        while (n < len && ((unsigned char)cleaned.data[from + n] & 0xC0) == 0x80)
            n--;
        const struct block piece = {kind, level, page, cleaned.data + from};
        enum err err = write_piece(writer, &piece, n);
        if (err)
            return err;
        from += n;
        len -= n;
    }
    return OK;
}

void block_progress(struct block_writer *writer, unsigned done, unsigned pages)
{
    put_frame(writer, 'G', 0, done, pages);
    flush(writer, 0);
}

void block_end(struct block_writer *writer, enum extract_outcome outcome)
{
    put_frame(writer, 'E', (unsigned)outcome, 0, 0);
    flush(writer, 0);
}

/* In the service. */

void block_reader_init(struct block_reader *reader, struct arena *arena)
{
    *reader = (struct block_reader){.arena = arena,
                                    .partial = BUF_INIT(HEAD_BYTES + EXTRACT_BLOCK_BYTES)};
}

void block_reader_clear(struct block_reader *reader)
{
    buf_clear(&reader->partial);
}

static uint32_t get_number(const char *at)
{
    const uint8_t *byte = (const uint8_t *)at;
    return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
           (uint32_t)byte[3] << 24;
}

static bool is_clean(const char *text, size_t len, enum block_kind kind)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' && text[i] != '\n' &&
            (text[i] != '\t' || kind != BLOCK_ROW))
            return false;
    return len > 0 && utf8_is_valid(text, len);
}

static enum err add_block(struct block_reader *reader, const struct block *block, size_t len)
{
    if (!is_clean(block->text, len, block->kind) || block->level > 9 ||
        block->page > EXTRACT_PAGES_MAX)
        return ERR_INVALID;
    struct block_list *blocks = &reader->blocks;
    if (blocks->count == EXTRACT_BLOCKS_MAX)
        return ERR_LIMIT;
    if (blocks->count == reader->cap) {
        reader->cap = MAX(reader->cap * 2, (size_t)64);
        struct block *wider = arena_new_n(reader->arena, struct block, reader->cap);
        if (blocks->count)
            memcpy(wider, blocks->items, blocks->count * sizeof(*wider));
        blocks->items = wider;
    }
    char *text = arena_strndup(reader->arena, block->text, len);
    reader->chars += utf8_count(text);
    if (reader->chars > EXTRACT_CHARS_MAX)
        return ERR_LIMIT;
    blocks->items[blocks->count] = *block;
    blocks->items[blocks->count++].text = text;
    return OK;
}

/* Of a frame's head: its length with the text, or 0 when it is none. */
static size_t frame_bytes(const char *head)
{
    size_t len = get_number(head + 8);
    if (head[0] == 'G' || head[0] == 'E')
        return HEAD_BYTES;
    bool is_known = memchr(types, head[0], sizeof(types)) != NULL;
    return is_known && len <= EXTRACT_BLOCK_BYTES ? HEAD_BYTES + len : 0;
}

static enum err take_frame(struct block_reader *reader, const char *frame, size_t len)
{
    unsigned level = (unsigned char)frame[1], page = get_number(frame + 4);
    unsigned pages = get_number(frame + 8);
    if (reader->has_ended || frame[2] || frame[3])
        return ERR_INVALID;
    if (frame[0] == 'G') {
        if (page > EXTRACT_PAGES_MAX || pages > EXTRACT_PAGES_MAX)
            return ERR_INVALID;
        reader->done = page;
        reader->pages = pages;
        return OK;
    }
    if (frame[0] == 'E') {
        if (level >= EXTRACT_OUTCOME_COUNT)
            return ERR_INVALID;
        reader->has_ended = true;
        reader->outcome = (enum extract_outcome)level;
        return OK;
    }
    const char *type = memchr(types, frame[0], sizeof(types));
    const struct block block = {(enum block_kind)(type - types), level, page, frame + HEAD_BYTES};
    return add_block(reader, &block, len - HEAD_BYTES);
}

/* All whole frames of data; *out_used: their bytes. */
static enum err take_frames(struct block_reader *reader, const char *data, size_t len,
                            size_t *out_used)
{
    size_t at = 0;
    enum err err = OK;
    while (!err && len - at >= HEAD_BYTES) {
        size_t n = frame_bytes(data + at);
        if (!n)
            return ERR_INVALID;
        if (n > len - at)
            break;
        err = take_frame(reader, data + at, n);
        at += n;
    }
    *out_used = at;
    return err;
}

enum err block_reader_push(struct block_reader *reader, const char *data, size_t len)
{
    struct buf *partial = &reader->partial;
    size_t used;
    while (len) {
        if (!partial->len) {
            enum err err = take_frames(reader, data, len, &used);
            if (err)
                return err;
            return buf_append(partial, data + used, len - used);
        }
        size_t whole = partial->len < HEAD_BYTES ? HEAD_BYTES : frame_bytes(partial->data);
        if (!whole)
            return ERR_INVALID;
        size_t n = MIN(len, whole - partial->len);
        enum err err = buf_append(partial, data, n);
        data += n;
        len -= n;
        if (!err && partial->len == whole)
            err = take_frames(reader, partial->data, partial->len, &used);
        if (err)
            return err;
        if (partial->len == whole && used)
            buf_reset(partial);
    }
    return OK;
}
