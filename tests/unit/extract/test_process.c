/* Extractors as processes: what they read, how they end, and what one cannot do that a document has
 * taken over. */
#include "extract/process.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sandbox.h"
#include "test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HAS_FILTER = 0 };
#else
enum { HAS_FILTER = 1 };
#endif

struct reading {
    struct loop *loop;
    struct arena *arena;
    struct extraction *extraction;
    enum extract_outcome outcome;
    struct block_list blocks;
    unsigned ended;
};

static void on_done(void *arg, enum extract_outcome outcome, const struct block_list *blocks,
                    size_t chars)
{
    struct reading *reading = arg;
    (void)chars;
    reading->outcome = outcome;
    reading->blocks = *blocks;
    reading->ended++;
    extraction_close(TAKE(reading->extraction));
    loop_stop(reading->loop);
}

static void read_bytes(struct reading *reading, const char *bytes, size_t len, int64_t deadline_us)
{
    int fd = memfd_create("document", MFD_CLOEXEC);
    struct fault fault = {0};
    *reading = (struct reading){.loop = loop_new("extract"), .arena = arena_new(0)};
    CHECK(write(fd, bytes, len) == (ssize_t)len);
    const struct extraction_spec spec = {.program = EXTRACTOR,
                                         .kind = EXTRACT_TEXT,
                                         .fd = fd,
                                         .deadline_us = deadline_us,
                                         .arena = reading->arena,
                                         .on_done = on_done,
                                         .arg = reading};
    if (CHECK(extraction_open(reading->loop, &spec, &reading->extraction, &fault) == OK))
        loop_run(reading->loop);
    CHECK_INT(reading->ended, 1);
    close(fd);
    loop_free(reading->loop);
}

static enum extract_outcome outcome_of(const char *text, int64_t deadline_us)
{
    struct reading reading;
    read_bytes(&reading, text, strlen(text), deadline_us);
    arena_free(reading.arena);
    return reading.outcome;
}

TEST(a_text_is_read_in_a_process_of_its_own)
{
    struct reading reading;
    static const char utf16[] = "\xFF\xFEO\0p\0e\0n\0 \0a\0t\0 \0n\0i\0n\0e\0.\0";
    read_bytes(&reading, utf16, sizeof(utf16) - 1, 0);
    CHECK_INT(reading.outcome, EXTRACT_DONE);
    if (CHECK(reading.blocks.count == 1))
        CHECK_TEXT(reading.blocks.items[0].text, "Open at nine.");
    arena_free(reading.arena);
    CHECK_INT(outcome_of("", 0), EXTRACT_EMPTY);
    CHECK_INT(outcome_of(" \n ", 0), EXTRACT_EMPTY);
    CHECK_INT(outcome_of("a\1b\2c\xFF", 0), EXTRACT_NO_TEXT);
}

TEST(a_taken_over_extractor_reaches_nothing)
{
    struct reading reading;
    struct sandbox_state can = sandbox_support();
    read_bytes(&reading, "#!try", 5, 0);
    CHECK_INT(reading.outcome, EXTRACT_DONE);
    if (CHECK(reading.blocks.count == 1) && can.has_paths && can.has_filter && HAS_FILTER)
        CHECK_TEXT(reading.blocks.items[0].text,
                   "reads 0 writes 0 spoils 0 connects 0 forks 0 grows 0");
    CHECK(access("/tmp/earshot-extractor-was-here", F_OK) != 0);
    arena_free(reading.arena);
}

TEST(a_broken_extractor_is_ended_and_told)
{
    CHECK_INT(outcome_of("#!garbage", 0), EXTRACT_BROKEN);
    CHECK_INT(outcome_of("#!silent", 0), EXTRACT_BROKEN);
    CHECK_INT(outcome_of("#!crash", 0), EXTRACT_BROKEN);
    CHECK_INT(outcome_of("#!flood", 0), EXTRACT_TOO_LONG);
    CHECK_INT(outcome_of("#!hang", 200000), EXTRACT_TOO_SLOW);
}

TEST(a_missing_program_is_a_fault)
{
    AUTO(arena) arena = arena_new(0);
    struct loop *loop = loop_new("extract");
    struct extraction *extraction = NULL;
    struct fault fault = {0};
    int fd = memfd_create("document", MFD_CLOEXEC);
    const struct extraction_spec spec = {
        .program = "/not/there", .fd = fd, .arena = arena, .on_done = on_done};
    CHECK_INT(extraction_open(loop, &spec, &extraction, &fault), ERR_IO);
    CHECK(strstr(fault.text, "/not/there") != NULL);
    close(fd);
    loop_free(loop);
}
