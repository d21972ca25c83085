/* Real files of real programs, and hostile ones, read as the service reads them: in a process of
 * its own. What a file's blocks should be stands beside it (NAME.want), one a line:
 * kind, level, text. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "extract/process.h"
#include "extract/reader.h"
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

static enum extract_outcome read_within(const char *name, int64_t deadline_us,
                                        struct buf *out_blocks)
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
                                         .deadline_us = deadline_us,
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

static enum extract_outcome read_file(const char *name, struct buf *out_blocks)
{
    return read_within(name, 0, out_blocks);
}

static void read_beside(const char *name, const char *ending, struct buf *out)
{
    AUTO_MEM char *path = mem_printf("%s/%.*s.%s", FILES, (int)strcspn(name, "."), name, ending);
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
        read_beside(names[i], "want", &want);
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

/* PDF. */

/* A program that a signal ends before it has printed anything. */
static struct extract_program ended_by(int signal_number)
{
    struct extract_program program = {.fd = open("/dev/null", O_RDONLY | O_CLOEXEC)};
    program.pid = fork();
    if (program.pid == 0) {
        (void)raise(signal_number);
        _exit(0);
    }
    return program;
}

TEST(a_page_that_takes_too_long_is_told_from_a_damaged_file)
{
    static const struct {
        int signal_number; /* that ends pdftotext within the first page; 0: none */
        enum extract_outcome outcome;
    } rows[] = {
        {SIGXCPU, EXTRACT_TOO_SLOW},
        {SIGKILL, EXTRACT_TOO_SLOW},
        {SIGABRT, EXTRACT_BROKEN},
        {0, EXTRACT_DAMAGED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct block_writer out;
        const struct extract_file file = {.data = "%PDF-",
                                          .len = 5,
                                          .text = ended_by(rows[i].signal_number),
                                          .info = ended_by(0)};
        block_writer_init(&out, -1);
        CHECK_INT(pdf_file_read(&file, &out), rows[i].outcome);
        block_writer_clear(&out);
        close(file.text.fd);
        close(file.info.fd);
    }
}

enum { WORDS_MAX = 2000 };

struct words {
    const char *at[WORDS_MAX];
    size_t count;
};

/* At blanks; of a row's cells, too. */
static void split(char *text, struct words *out)
{
    char *rest = NULL;
    out->count = 0;
    for (char *word = strtok_r(text, " \n|", &rest); word && out->count < WORDS_MAX;
         word = strtok_r(NULL, " \n|", &rest))
        out->at[out->count++] = word;
}

/* How many words both have in the same order. */
static size_t common(const struct words *a, const struct words *b)
{
    static size_t above[WORDS_MAX + 1], row[WORDS_MAX + 1];
    memset(above, 0, sizeof(above));
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < b->count; k++)
            row[k + 1] = strcmp(a->at[i], b->at[k]) == 0 ? above[k] + 1 : MAX(above[k + 1], row[k]);
        memcpy(above, row, sizeof(above));
    }
    return above[b->count];
}

/* Without the kind and the level that each line begins with. */
static void keep_text(struct buf *blocks)
{
    size_t to = 0;
    for (size_t at = 0; at < blocks->len;) {
        size_t end = at + strcspn(blocks->data + at, "\n") + 1,
               skip = strcspn(blocks->data + at, " ");
        memmove(blocks->data + to, blocks->data + at + skip, end - at - skip);
        to += end - at - skip;
        at = end;
    }
    blocks->data[blocks->len = to] = '\0';
}

TEST(pdf_files_are_read_in_order)
{
    static const struct {
        const char *name, *row; /* a row of its table */
        unsigned permille;
    } rows[] = {
        {"latex.pdf", "\nR0 Deluxe room|4,500|2\n", 980},
        {"groff.pdf", "\nR0 Deluxe room|4,500|2\n", 980},
        {"office.pdf", "\nR2 Room|Price|Beds\n", 980},
        {"browser.pdf", "\nR0 Deluxe room|4,500|2\n", 980},
        {"hindi.pdf", "\nI1 ", 960},
        {"browser-hindi.pdf", "\nP0 ", 960},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF got = BUF_INIT(0), want = BUF_INIT(FILE_MAX_BYTES);
        struct words is, should;
        CHECK_INT(read_file(rows[i].name, &got), EXTRACT_DONE);
        read_beside(rows[i].name, "words", &want);
        REQUIRE(got.len && want.len);
        CHECK(strstr(got.data, rows[i].row) != NULL);
        keep_text(&got);
        split(got.data, &is);
        split(want.data, &should);
        size_t found = common(&should, &is);
        printf("    %-18s %4zu of %4zu words in order, %zu more\n", rows[i].name, found,
               should.count, is.count - found);
        CHECK(found * 1000 >= should.count * rows[i].permille);
        CHECK(is.count - found <= should.count / 20 + 8); /* a single page keeps its header */
    }
}

TEST(hostile_pdf_files_end_with_their_reason)
{
    static const struct {
        const char *name;
        enum extract_outcome outcome;
        const char *blocks;
    } rows[] = {
        {"scan.pdf", EXTRACT_SCANNED, NULL},
        {"blank.pdf", EXTRACT_EMPTY, NULL},
        {"locked.pdf", EXTRACT_ENCRYPTED, NULL},
        {"nocopy.pdf", EXTRACT_ENCRYPTED, NULL},
        {"cut.pdf", EXTRACT_DAMAGED, NULL},
        {"noise.pdf", EXTRACT_DAMAGED, NULL},
        {"flat.pdf", EXTRACT_DONE, "P1 The garage closes at ten/Dogs are welcome\n"},
        {"script.pdf", EXTRACT_DONE, "P0 The garage closes at ten.\n"},
        {"ring.pdf", EXTRACT_DONE, "P0 Round and round.\n"},
        {"both.pdf", EXTRACT_DONE, "P0 A PDF in front of an archive.\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF got = BUF_INIT(0);
        if (!CHECK_INT(read_file(rows[i].name, &got), rows[i].outcome))
            printf("    in %s\n", rows[i].name);
        CHECK_TEXT(got.len ? got.data : "", rows[i].blocks ? rows[i].blocks : "");
    }
    AUTO_BUF got = BUF_INIT(0);
    CHECK_INT(read_within("heavy.pdf", 300000, &got), EXTRACT_TOO_SLOW);
}

/* Progress. */

struct told {
    unsigned times, done, pages;
    bool goes_back;
};

/* What the extractor says, byte by byte, so that nothing of it is passed over. */
static void note_told(const char *data, size_t len, struct block_reader *reader, struct told *told)
{
    for (size_t i = 0; i < len && CHECK_INT(block_reader_push(reader, data + i, 1), OK); i++) {
        told->times += reader->done != told->done;
        told->goes_back = told->goes_back || reader->done < told->done;
        told->done = reader->done;
        told->pages = reader->pages;
    }
}

static struct told read_progress(const char *name, const char *kind)
{
    AUTO_MEM char *command = mem_printf("%s extract %s < %s/%s", EXTRACTOR, kind, FILES, name);
    AUTO(arena) arena = arena_new(0);
    struct block_reader reader;
    struct told told = {0};
    char piece[4096];
    block_reader_init(&reader, arena);
    FILE *output = popen(command, "r");
    for (size_t n; CHECK(output != NULL) && (n = fread(piece, 1, sizeof(piece), output)) > 0;)
        note_told(piece, n, &reader, &told);
    if (output)
        CHECK_INT(pclose(output), 0);
    CHECK(reader.has_ended && reader.outcome == EXTRACT_DONE);
    block_reader_clear(&reader);
    return told;
}

TEST(progress_is_told_page_by_page)
{
    struct told pdf = read_progress("pages.pdf", "pdf");
    CHECK(pdf.pages == 40 && pdf.done == 40 && pdf.times == 40 && !pdf.goes_back);
    struct told docx = read_progress("pages.docx", "docx");
    CHECK(docx.pages == 40 && docx.done == 40 && !docx.goes_back);
    CHECK(docx.times >= 20); /* by what is read at a time */
    struct told uncounted = read_progress("word.docx", "docx");
    CHECK(uncounted.pages == 0 && uncounted.done == 0);
}
