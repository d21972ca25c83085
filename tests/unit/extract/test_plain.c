/* Plain texts as blocks. */
#include <string.h>

#include "base/mem.h"
#include "extract/plain.h"
#include "test.h"

/* "H1 Title|P text|I entry|R0 a>b": one word a block, so that a row of a test is one line. */
static void describe(const char *text, struct buf *out)
{
    struct block_writer writer;
    struct block_reader reader;
    AUTO(arena) arena = arena_new(0);
    block_writer_init(&writer, -1);
    block_reader_init(&reader, arena);
    CHECK_INT(plain_read(text, &writer), OK);
    if (writer.buf.len)
        CHECK_INT(block_reader_push(&reader, writer.buf.data, writer.buf.len), OK);
    for (size_t i = 0; i < reader.blocks.count; i++) {
        const struct block *block = &reader.blocks.items[i];
        (void)buf_printf(out, "%s%c", i ? "|" : "", "HPIR"[block->kind]);
        if (block->kind == BLOCK_HEADING || block->kind == BLOCK_ROW)
            (void)buf_printf(out, "%u", block->level);
        (void)buf_printf(out, " %s", block->text);
    }
    for (size_t i = 0; i < out->len; i++)
        if (out->data[i] == '\n' || out->data[i] == '\t')
            out->data[i] = out->data[i] == '\n' ? '/' : '>';
    block_reader_clear(&reader);
    block_writer_clear(&writer);
}

TEST(plain_texts_become_blocks)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"Parking\n\nGuests park free.\nAll night.\n", "H1 Parking|P Guests park free./All night."},
        {"# One #\nText here.\n## Two\nMore.", "H1 One|P Text here.|H2 Two|P More."},
        {"Title\n=====\nText here.\n\nPart\n---\nMore.", "H1 Title|P Text here.|H2 Part|P More."},
        {"We have:\n- tea\n* coffee\n  with milk\n3. water\n\nEnd.",
         "P We have:|I tea|I coffee/with milk|I water|P End."},
        {"|Room|Price|\n|---|--:|\n|Deluxe|4,500|\n\nText.",
         "R1 Room>Price|R0 Deluxe>4,500|P Text."},
        {"|a|b|\n|c|d|\n", "R2 a>b|R0 c>d"},
        {"One.\r\rTwo.\r", "P One.|P Two."},
        {"One.\r\n\r\nTwo.\r\n", "P One.|P Two."},
        {"Is it open?\n\nYes.", "P Is it open?|P Yes."},
        {"Parking\nGuests park free all night.\n\nPool\nIt is warm.\nBring a towel.",
         "H2 Parking|P Guests park free all night.|H2 Pool|P It is warm./Bring a towel."},
        {"12 Hill Street\nLondon\nNW1", "P 12 Hill Street/London/NW1"},
        {"Check-in: from 3 pm\nThe desk is open all night.",
         "P Check-in: from 3 pm/The desk is open all night."},
        {"A line that was wrapped by hand at some seventy columns goes on\nin the next one. So "
         "it is no heading.",
         "P A line that was wrapped by hand at some seventy columns goes on/in the next one. So "
         "it is no heading."},
        {"###\n\n#\n\n- \n* a", "P -|I a"},
        {"", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF got = BUF_INIT(1 << 16);
        describe(rows[i].text, &got);
        CHECK_TEXT(got.len ? got.data : "", rows[i].want);
    }
}

/* Of a line that was left out the document would know nothing, and nobody would hear of it. */
TEST(plain_line_longer_than_a_document_may_be_is_refused)
{
    enum { LINE_BYTES = 17 * 1024 * 1024 };
    AUTO_MEM char *text = mem_new_n(char, LINE_BYTES + 1);
    struct block_writer writer;
    memset(text, 'a', LINE_BYTES);
    memcpy(text, "Hours\n\n", 7);
    text[LINE_BYTES] = '\0';
    block_writer_init(&writer, -1);
    CHECK_INT(plain_read(text, &writer), ERR_LIMIT);
    CHECK_INT(plain_read(text + 7, &writer), ERR_LIMIT);
    block_writer_clear(&writer);
}
