/* Any bytes as what an extractor says, in pieces of the length that the first byte tells: whole or
 * in pieces, the same comes of it, and what comes of it is clean. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"
#include "extract/block.h"

static enum err push(struct block_reader *reader, const char *data, size_t len, size_t step)
{
    enum err err = OK;
    for (size_t at = 0; at < len && !err; at += step)
        err = block_reader_push(reader, data + at, MIN(step, len - at));
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    AUTO(arena) arena = arena_new(0);
    struct block_reader whole, pieces;
    block_reader_init(&whole, arena);
    block_reader_init(&pieces, arena);
    const char *bytes = (const char *)data + 1;
    enum err first = push(&whole, bytes, size - 1, size);
    enum err second = push(&pieces, bytes, size - 1, (size_t)data[0] % 61 + 1);
    assert(first == second && whole.blocks.count == pieces.blocks.count);
    for (size_t i = 0; i < whole.blocks.count; i++) {
        const char *text = whole.blocks.items[i].text;
        assert(*text && utf8_is_valid(text, strlen(text)) && whole.blocks.items[i].level <= 9);
        assert(strcmp(text, pieces.blocks.items[i].text) == 0);
    }
    block_reader_clear(&whole);
    block_reader_clear(&pieces);
    return 0;
}
