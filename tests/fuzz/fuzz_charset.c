/* Any bytes as a text file, and then as blocks: what comes out is UTF-8, and the blocks are clean.
 */
#include "fuzz.h"

#include <assert.h>

#include "base/utf8.h"
#include "extract/charset.h"
#include "extract/plain.h"

enum { TEXT_MAX_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF text = BUF_INIT(TEXT_MAX_BYTES);
    (void)charset_is_text((const char *)data, size);
    if (size > TEXT_MAX_BYTES / 4 || charset_decode((const char *)data, size, &text))
        return 0;
    assert(!text.len || utf8_is_valid(text.data, text.len));
    struct block_writer writer;
    struct block_reader reader;
    AUTO(arena) arena = arena_new(0);
    block_writer_init(&writer, -1);
    block_reader_init(&reader, arena);
    assert(plain_read(text.len ? text.data : "", &writer) == OK);
    assert(!writer.buf.len || block_reader_push(&reader, writer.buf.data, writer.buf.len) == OK);
    assert(reader.chars == writer.chars);
    block_reader_clear(&reader);
    block_writer_clear(&writer);
    return 0;
}
