#include "net/http_chunk.h"

enum {
    SIZE_DIGITS_MAX = 8,    /* 4 GiB a chunk */
    EXTRA_BYTES_MAX = 8192, /* extensions and trailers of a whole body */
};

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static enum err read_size(struct http_chunk *chunk, char c)
{
    int value = hex_value(c);
    if (value >= 0) {
        chunk->left = chunk->left * 16 + (uint64_t)value;
        return ++chunk->digits > SIZE_DIGITS_MAX ? ERR_INVALID : OK;
    }
    if (chunk->digits == 0 || (c != '\r' && c != ';'))
        return ERR_INVALID;
    chunk->state = c == '\r' ? CHUNK_SIZE_LF : CHUNK_EXTENSION;
    return OK;
}

static enum err expect(struct http_chunk *chunk, char c, char wanted, enum http_chunk_state next)
{
    chunk->state = next;
    return c == wanted ? OK : ERR_INVALID;
}

/* Text that is dropped: anything but control bytes, until CR. */
static enum err skip_text(struct http_chunk *chunk, char c, enum http_chunk_state next)
{
    if (c == '\r')
        chunk->state = next;
    else if (((unsigned char)c < ' ' && c != '\t') || c == 0x7f)
        return ERR_INVALID;
    return ++chunk->extra > EXTRA_BYTES_MAX ? ERR_INVALID : OK;
}

static enum err end_size_line(struct http_chunk *chunk, char c)
{
    chunk->digits = 0;
    return expect(chunk, c, '\n', chunk->left ? CHUNK_DATA : CHUNK_TRAILER);
}

static enum err begin_trailer(struct http_chunk *chunk, char c)
{
    if (c == '\r') {
        chunk->state = CHUNK_END_LF;
        return OK;
    }
    chunk->state = CHUNK_TRAILER_LINE;
    return c == ' ' || c == '\t' ? ERR_INVALID : skip_text(chunk, c, CHUNK_TRAILER_LF);
}

static enum err read_byte(struct http_chunk *chunk, char c)
{
    switch (chunk->state) {
    case CHUNK_SIZE:
        return read_size(chunk, c);
    case CHUNK_EXTENSION:
        return skip_text(chunk, c, CHUNK_SIZE_LF);
    case CHUNK_SIZE_LF:
        return end_size_line(chunk, c);
    case CHUNK_DATA_CR:
        return expect(chunk, c, '\r', CHUNK_DATA_LF);
    case CHUNK_DATA_LF:
        return expect(chunk, c, '\n', CHUNK_SIZE);
    case CHUNK_TRAILER:
        return begin_trailer(chunk, c);
    case CHUNK_TRAILER_LINE:
        return skip_text(chunk, c, CHUNK_TRAILER_LF);
    case CHUNK_TRAILER_LF:
        return expect(chunk, c, '\n', CHUNK_TRAILER);
    case CHUNK_END_LF:
        return expect(chunk, c, '\n', CHUNK_DONE);
    case CHUNK_DATA:
    case CHUNK_DONE:
        break;
    }
    return ERR_INTERNAL;
}

enum err http_chunk_read(struct http_chunk *chunk, const char *data, size_t len, size_t *out_used,
                         const char **out_data, size_t *out_len)
{
    size_t at = 0;
    *out_len = 0;
    while (at < len && chunk->state != CHUNK_DATA && chunk->state != CHUNK_DONE) {
        enum err err = read_byte(chunk, data[at++]);
        if (err)
            return err;
    }
    if (chunk->state == CHUNK_DATA && at < len) {
        uint64_t n = MIN(chunk->left, (uint64_t)(len - at));
        *out_data = data + at;
        *out_len = (size_t)n;
        at += (size_t)n;
        chunk->left -= n;
        if (chunk->left == 0)
            chunk->state = CHUNK_DATA_CR;
    }
    *out_used = at;
    return *out_len > 0 || chunk->state == CHUNK_DONE ? OK : ERR_AGAIN;
}
