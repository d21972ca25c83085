/* Any bytes as a Word document: as its package, and as its main part. What is read is clean. */
#include "fuzz.h"

#include <assert.h>

#include "extract/reader.h"

static void try_out(extract_reader_fn *read_file, const uint8_t *data, size_t size)
{
    const struct extract_file file = {.data = (const char *)data, .len = size};
    struct block_writer writer;
    struct block_reader reader;
    AUTO(arena) arena = arena_new(0);
    block_writer_init(&writer, -1);
    block_reader_init(&reader, arena);
    enum extract_outcome outcome = read_file(&file, &writer);
    assert(outcome < EXTRACT_OUTCOME_COUNT);
    assert(!writer.buf.len || block_reader_push(&reader, writer.buf.data, writer.buf.len) == OK);
    block_reader_clear(&reader);
    block_writer_clear(&writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 262144)
        return 0;
    try_out(docx_file_read, data, size);
    try_out(docx_xml_read, data, size);
    return 0;
}
