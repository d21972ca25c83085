/* The growing buffer. It doubles, so that appending is cheap, and never passes its ceiling. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_BYTES = 64 };

void buf_init(struct buf *buf, size_t max_bytes)
{
    *buf = (struct buf)BUF_INIT(max_bytes);
}

void buf_clear(struct buf *buf)
{
    mem_free(buf->data);
    *buf = (struct buf)BUF_INIT(buf->max_bytes);
}

void buf_reset(struct buf *buf)
{
    buf->len = 0;
    buf->is_full = false;
    if (buf->data)
        buf->data[0] = '\0';
}

enum err buf_reserve(struct buf *buf, size_t more_bytes)
{
    if (more_bytes > buf->max_bytes - buf->len) {
        buf->is_full = true;
        return ERR_LIMIT;
    }
    size_t need = buf->len + more_bytes;
    if (buf->data && need <= buf->cap)
        return OK;
    size_t cap = MAX(MAX(need, 2 * buf->cap), (size_t)FIRST_BYTES);
    cap = MAX(MIN(cap, buf->max_bytes), need);
    buf->data = mem_realloc_n(buf->data, cap + 1, 1);
    buf->data[buf->len] = '\0';
    buf->cap = cap;
    return OK;
}

enum err buf_append(struct buf *buf, const void *data, size_t len)
{
    enum err err = buf_reserve(buf, len);
    if (err)
        return err;
    if (len)
        memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return OK;
}

enum err buf_append_str(struct buf *buf, const char *text)
{
    return buf_append(buf, text, strlen(text));
}

enum err buf_append_char(struct buf *buf, char c)
{
    return buf_append(buf, &c, 1);
}

enum err buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    enum err err = len < 0 ? ERR_INTERNAL : buf_reserve(buf, (size_t)len);
    if (!err) {
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
    return err;
}

void buf_consume(struct buf *buf, size_t len)
{
    size_t gone = MIN(len, buf->len);
    if (gone == 0)
        return;
    buf->len -= gone;
    memmove(buf->data, buf->data + gone, buf->len + 1);
}

char *buf_take(struct buf *buf, size_t *out_len)
{
    char *data = buf->data ? buf->data : mem_zalloc(1);
    if (out_len)
        *out_len = buf->len;
    *buf = (struct buf)BUF_INIT(buf->max_bytes);
    return data;
}
