/* Real files of real programs, and hostile ones, read as the service reads them: in a process of
 * its own. What a file's blocks should be stands beside it (NAME.want), one a line:
 * kind, level, text. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "extract/process.h"
#include "test.h"

enum { FILE_MAX_BYTES = 1 << 20 };

struct result {
    struct loop *loop;
    struct extraction *extraction;
    enum extract_outcome outcome;
    struct buf blocks; /* as in NAME.want */
};

static void on_done(void *arg, enum extract_outcome outcome, const struct block_list *blocks,
                    size_t chars)
{
    struct result *result = arg;
    (void)chars;
    result->outcome = outcome;
    for (size_t i = 0; i < blocks->count; i++) {
        const struct block *block = &blocks->items[i];
        size_t from = result->blocks.len;
        (void)buf_printf(&result->blocks, "%c%u %s\n", "HPIR"[block->kind], block -> level,
                         block -> text);
        for (size_t at = from; at + 1 < result->blocks.len; at++) {
            char *c = &result->blocks.data[at];
            *c = *c == '\n' ? '/' : *c == '\t' ? '|' : *c;
        }
    }
    extraction_close(TAKE(result->extraction));
    loop_stop(result->loop);
}

static enum extract_outcome read_file(const char *name, struct buf *out_blocks)
{
    AUTO_MEM char *path = mem_printf("%s/%s", FILES, name);
    AUTO(arena) arena = arena_new(0);
    struct result result = {.loop = loop_new("files"), .blocks = BUF_INIT(FILE_MAX_BYTES)};
    struct fault fault = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum extract_kind kind = EXTRACT_TEXT;
    CHECK(fd >= 0 && extract_kind_of(fd, &kind) == OK);
    const struct extraction_spec spec = {.program = EXTRACTOR,
                                         .kind = kind,
                                         .fd = fd,
                                         .arena = arena,
                                         .on_done = on_done,
                                         .arg = &result};
    if (CHECK(extraction_open(result.loop, &spec, &result.extraction, &fault) == OK))
        loop_run(result.loop);
    close(fd);
    loop_free(result.loop);
    *out_blocks = result.blocks;
    return result.outcome;
}

static void read_want(const char *name, struct buf *out)
{
    AUTO_MEM char *path = mem_printf("%s/%.*s.want", FILES, (int)strcspn(name, "."), name);
    FILE *file = fopen(path, "r");
    char piece[4096];
    if (!CHECK(file != NULL))
        return;
    for (size_t n; (n = fread(piece, 1, sizeof(piece), file)) > 0;)
        (void)buf_append(out, piece, n);
    fclose(file);
}

/* Line by line, so that what differs is seen. */
static void check_same(const char *name, char *got, char *want)
{
    char *got_rest = NULL, *want_rest = NULL;
    char *got_line = strtok_r(got, "\n", &got_rest);
    for (char *line = strtok_r(want, "\n", &want_rest); line;
         line = strtok_r(NULL, "\n", &want_rest)) {
        if (!CHECK_TEXT(got_line ? got_line : "(nothing)", line)) {
            printf("    in %s\n", name);
            return;
        }
        got_line = strtok_r(NULL, "\n", &got_rest);
    }
    CHECK_TEXT(got_line ? got_line : "", "");
}

TEST(word_files_are_read_as_they_are_meant)
{
    static const char *const names[] = {"libreoffice.docx", "word.docx"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO_BUF got = BUF_INIT(0), want = BUF_INIT(FILE_MAX_BYTES);
        CHECK_INT(read_file(names[i], &got), EXTRACT_DONE);
        read_want(names[i], &want);
        if (got.len && want.len)
            check_same(names[i], got.data, want.data);
    }
}

TEST(hostile_word_files_fail_with_their_reason)
{
    static const struct {
        const char *name;
        enum extract_outcome outcome;
    } rows[] = {
        {"bomb.docx", EXTRACT_TOO_BIG},      {"liar.docx", EXTRACT_TOO_BIG},
        {"deep.docx", EXTRACT_TOO_DEEP},     {"tables.docx", EXTRACT_TOO_DEEP},
        {"entities.docx", EXTRACT_DAMAGED},  {"nothing.docx", EXTRACT_EMPTY},
        {"elsewhere.docx", EXTRACT_DAMAGED}, {"open.docx", EXTRACT_DAMAGED},
        {"cut.docx", EXTRACT_DAMAGED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF got = BUF_INIT(0);
        enum extract_outcome outcome = read_file(rows[i].name, &got);
        if (!CHECK_INT(outcome, rows[i].outcome))
            printf("    in %s\n", rows[i].name);
        CHECK_INT(got.len, 0);
    }
}
