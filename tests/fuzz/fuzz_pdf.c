/* Any bytes as what pdftotext prints of a PDF file: pages of words, from which blocks are made. */
#include "fuzz.h"

#include <assert.h>

#include "extract/pdf.h"

static void take_page(void *arg, struct pdf_page *page)
{
    pdf_order_page(arg, page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 65536)
        return 0;
    struct pdf_document document;
    struct pdf_words words;
    struct block_writer writer;
    struct block_reader reader;
    AUTO(arena) arena = arena_new(0);
    pdf_document_init(&document);
    pdf_words_init(&words, take_page, &document);
    pdf_words_push(&words, (const char *)data, size / 2);
    pdf_words_push(&words, (const char *)data + size / 2, size - size / 2);
    pdf_words_clear(&words);
    block_writer_init(&writer, -1);
    block_reader_init(&reader, arena);
    pdf_drop_repeated(&document);
    assert(pdf_write(&document, &writer) == OK);
    assert(!writer.buf.len || block_reader_push(&reader, writer.buf.data, writer.buf.len) == OK);
    block_reader_clear(&reader);
    block_writer_clear(&writer);
    pdf_document_clear(&document);
    return 0;
}
