#include "net/http_chunk.h"

#include "base/buf.h"
#include "test.h"

/* Decodes text given `step` bytes at a time; the outcome and, in *out, what was in it. */
static enum err decode(const char *text, size_t step, struct buf *out, size_t *out_used)
{
    struct http_chunk chunk = {0};
    size_t len = strlen(text), at = 0, have = 0;
    buf_reset(out);
    while (chunk.state != CHUNK_DONE) {
        size_t used, piece_len;
        const char *piece;
        enum err err = http_chunk_read(&chunk, text + at, have - at, &used, &piece, &piece_len);
        if (err == ERR_INVALID)
            return err;
        buf_append(out, piece_len ? piece : "", piece_len);
        at += used;
        if (err == ERR_AGAIN && have == len)
            return ERR_AGAIN;
        if (err == ERR_AGAIN)
            have = MIN(have + step, len);
    }
    *out_used = at;
    return OK;
}

TEST(chunks_decode_however_they_are_cut)
{
    static const char text[] = "5\r\nhello\r\n1;ext=\"v\"\r\n \r\n0005\r\nworld\r\n0\r\n"
                               "Trailer: x\r\nAnother: y\r\n\r\nGET";
    for (size_t step = 1; step < sizeof(text); step++) {
        AUTO_BUF out = BUF_INIT(100);
        size_t used = 0;
        CHECK(decode(text, step, &out, &used) == OK);
        CHECK_TEXT(out.data, "hello world");
        CHECK_INT(used, sizeof(text) - 1 - 3);
    }
}

TEST(malformed_chunks_are_refused)
{
    static const struct {
        const char *text;
        enum err err;
    } rows[] = {
        {"5\nhello\r\n0\r\n\r\n", ERR_INVALID},
        {" 5\r\nhello\r\n0\r\n\r\n", ERR_INVALID},
        {"5 \r\nhello\r\n0\r\n\r\n", ERR_INVALID},
        {"0x5\r\nhello\r\n", ERR_INVALID},
        {"\r\n", ERR_INVALID},
        {"g\r\n", ERR_INVALID},
        {"-1\r\n", ERR_INVALID},
        {"123456789\r\n", ERR_INVALID},
        {"5\r\nhelloX\r\n", ERR_INVALID},
        {"5\r\nhello\n0\r\n\r\n", ERR_INVALID},
        {"0\r\n\n", ERR_INVALID},
        {"0\r\n folded\r\n\r\n", ERR_INVALID},
        {"1;a\nb\r\nx\r\n", ERR_INVALID},
        {"5\r\nhel", ERR_AGAIN},
        {"0\r\n", ERR_AGAIN},
        {"0\r\n\r", ERR_AGAIN},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO_BUF out = BUF_INIT(100);
        size_t used;
        if (!CHECK_INT(decode(rows[i].text, 3, &out, &used), rows[i].err))
            CHECK_TEXT(rows[i].text, "refused so");
    }
}

TEST(extensions_and_trailers_have_a_ceiling)
{
    AUTO_BUF text = BUF_INIT(100000);
    AUTO_BUF out = BUF_INIT(100);
    size_t used;
    buf_append_str(&text, "0\r\n");
    for (int i = 0; i < 2000; i++)
        buf_append_str(&text, "Trailer: x\r\n");
    buf_append_str(&text, "\r\n");
    CHECK_INT(decode(text.data, 100, &out, &used), ERR_INVALID);
}
