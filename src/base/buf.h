/* A growing byte buffer that is born with its ceiling. The only way to hold what somebody else
 * sizes. Where data is not NULL, a NUL follows its len bytes, so that text can be read as a C
 * string. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max_bytes;
    bool is_full; /* sticky: an append met the ceiling; what was appended before stays */
};

void buf_init(struct buf *buf, size_t max_bytes);
void buf_clear(struct buf *buf); /* frees; the ceiling stays */
void buf_reset(struct buf *buf); /* len = 0, is_full = false, memory stays */

/* All appends: ERR_LIMIT (and is_full) when the ceiling would be passed; then nothing is appended.
 * The result may be ignored when the caller checks is_full at the end. */
enum err buf_append(struct buf *buf, const void *data, size_t len);
enum err buf_append_str(struct buf *buf, const char *text);
enum err buf_append_char(struct buf *buf, char c);
enum err buf_printf(struct buf *buf, const char *format, ...) PRINTF(2, 3);
enum err buf_reserve(struct buf *buf, size_t more_bytes);
void buf_consume(struct buf *buf, size_t len); /* drops len bytes from the front */
char *buf_take(struct buf *buf,
               size_t *out_len); /* hands the memory on (mem_free), buf is empty; never NULL */

static inline void buf_auto_clear(struct buf *buf)
{
    buf_clear(buf);
}
#define AUTO_BUF __attribute__((cleanup(buf_auto_clear))) struct buf
#define BUF_INIT(max)                                                                              \
    {                                                                                              \
        .max_bytes = (max)                                                                         \
    }
