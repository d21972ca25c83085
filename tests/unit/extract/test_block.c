/* Blocks through the protocol and back, and what breaks it. */
#include <string.h>

#include "extract/block.h"
#include "test.h"

static enum err push_in_steps(struct block_reader *reader, const struct buf *bytes, size_t step)
{
    enum err err = OK;
    for (size_t at = 0; at < bytes->len && !err; at += step)
        err = block_reader_push(reader, bytes->data + at, MIN(step, bytes->len - at));
    return err;
}

TEST(blocks_arrive_as_they_were_written)
{
    static const size_t steps[] = {1, 2, 7, 12, 13, 100000};
    struct block_writer writer;
    block_writer_init(&writer, -1);
    CHECK_INT(block_write(&writer, BLOCK_HEADING, 2, 1, "  Prices \n"), OK);
    block_progress(&writer, 1, 3);
    CHECK_INT(block_write(&writer, BLOCK_PARAGRAPH, 0, 1, "One\x01 \t line\nand\xC2\xA0next."), OK);
    CHECK_INT(block_write(&writer, BLOCK_ROW, ROW_HEADER, 2, "Room\tPrice"), OK);
    CHECK_INT(block_write(&writer, BLOCK_ITEM, 1, 2, " \n "), OK); /* nothing */
    block_end(&writer, EXTRACT_DONE);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        AUTO(arena) arena = arena_new(0);
        struct block_reader reader;
        block_reader_init(&reader, arena);
        CHECK_INT(push_in_steps(&reader, &writer.buf, steps[i]), OK);
        CHECK(reader.has_ended && reader.outcome == EXTRACT_DONE);
        CHECK(reader.done == 1 && reader.pages == 3);
        REQUIRE(reader.blocks.count == 3);
        const struct block *blocks = reader.blocks.items;
        CHECK(blocks[0].kind == BLOCK_HEADING && blocks[0].level == 2 && blocks[0].page == 1);
        CHECK_TEXT(blocks[0].text, "Prices");
        CHECK_TEXT(blocks[1].text, "One line\nand next.");
        CHECK_TEXT(blocks[2].text, "Room\tPrice");
        CHECK_INT(reader.chars, writer.chars);
        block_reader_clear(&reader);
    }
    block_writer_clear(&writer);
}

static enum err push(const char *bytes, size_t len)
{
    AUTO(arena) arena = arena_new(0);
    struct block_reader reader;
    block_reader_init(&reader, arena);
    enum err err = block_reader_push(&reader, bytes, len);
    block_reader_clear(&reader);
    return err;
}

TEST(what_breaks_the_protocol_is_refused)
{
#define HEAD(type, level, len)                                                                     \
    type level "\0\0"                                                                              \
               "\0\0\0\0" len "\0\0\0"
#define PUSH(text) push(text, sizeof(text) - 1)
    CHECK_INT(PUSH(HEAD("P", "\0", "\3") "abc"), OK);
    CHECK_INT(PUSH(HEAD("X", "\0", "\3") "abc"), ERR_INVALID);
    CHECK_INT(PUSH(HEAD("P", "\12", "\3") "abc"), ERR_INVALID);       /* level */
    CHECK_INT(PUSH(HEAD("P", "\0", "\3") "a\1c"), ERR_INVALID);       /* control */
    CHECK_INT(PUSH(HEAD("P", "\0", "\3") "a\tc"), ERR_INVALID);       /* only in rows */
    CHECK_INT(PUSH(HEAD("P", "\0", "\2") "\xC3("), ERR_INVALID);      /* no UTF-8 */
    CHECK_INT(PUSH(HEAD("P", "\0", "\0")), ERR_INVALID);              /* empty */
    CHECK_INT(PUSH("P\0\1\0\0\0\0\0\1\0\0\0a"), ERR_INVALID);         /* reserved */
    CHECK_INT(PUSH("P\0\0\0\0\0\0\0\0\0\0\x7F"), ERR_INVALID);        /* 2 GB */
    CHECK_INT(PUSH("P\0\0\0\xFF\xFF\xFF\xFF\1\0\0\0a"), ERR_INVALID); /* page */
    CHECK_INT(PUSH("E\x7F\0\0\0\0\0\0\0\0\0\0"), ERR_INVALID);        /* outcome */
    CHECK_INT(PUSH("E\0\0\0\0\0\0\0\0\0\0\0E\0\0\0\0\0\0\0\0\0\0\0"), ERR_INVALID);
}

TEST(a_document_has_a_longest_length)
{
    struct block_writer writer;
    block_writer_init(&writer, -1);
    AUTO_BUF text = BUF_INIT(1 << 20);
    for (int i = 0; i < 100000; i++)
        (void)buf_append_str(&text, "\xE0\xA4\x95");
    for (int i = 0; i < 20; i++)
        CHECK_INT(block_write(&writer, BLOCK_PARAGRAPH, 0, 0, text.data), OK);
    CHECK_INT(writer.chars, EXTRACT_CHARS_MAX);
    CHECK_INT(block_write(&writer, BLOCK_PARAGRAPH, 0, 0, "x"), ERR_LIMIT);
    AUTO(arena) arena = arena_new(0);
    struct block_reader reader;
    block_reader_init(&reader, arena);
    CHECK_INT(block_reader_push(&reader, writer.buf.data, writer.buf.len), OK);
    CHECK_INT(block_reader_push(&reader, HEAD("P", "\0", "\1") "a", 13), ERR_LIMIT);
    block_reader_clear(&reader);
    block_writer_clear(&writer);
}

TEST(each_outcome_has_a_sentence)
{
    for (int i = EXTRACT_DONE + 1; i < EXTRACT_OUTCOME_COUNT; i++)
        CHECK(strlen(extract_sentence((enum extract_outcome)i)) > 10);
}
