/* The search alone: documents of made-up words (a few common ones, many rare ones, as languages
 * have them) in one workspace, all named in each search. Prints how long the index took, its size,
 * and p50 and p99 of a search (CPU of its thread), warm; the same while documents are read, and
 * while one of 300,000 different words is. Long ones: with --in-process, where no test has an end.
 * DOCUMENTS=50 CHARS=200000 build/bench/bench_search */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "know/internal.h"
#include "know/know.h"
#include "know/passages.h"
#include "store/document.h"
#include "unit/store/fixture.h"

enum {
    VOCABULARY = 60000,
    QUESTIONS_MAX = 20000,
    READ_MEANWHILE = 10,
    DIFFERENT_WORDS = 300000,
};

static uint64_t seed = 7;

static double chance(void)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(seed >> 33) / (double)(1ULL << 31);
}

/* The n-th most frequent word stands about 1/n as often as the first. */
static void add_word(struct buf *out)
{
    static const char *const parts[] = {"ka", "lo",  "mi",  "ren", "ta",  "so",  "ver", "ni",
                                        "du", "pel", "gar", "ba",  "shi", "cor", "em",  "ful"};
    size_t n = (size_t)exp(chance() * log(VOCABULARY));
    do
        (void)buf_append_str(out, parts[n % 16]);
    while (n /= 16);
}

static void add_sentence(struct buf *out, int words)
{
    for (int i = 0; i < words; i++) {
        add_word(out);
        (void)buf_append_char(out, i == words - 1 ? '.' : ' ');
    }
    (void)buf_append_char(out, ' ');
}

static const char *add_text(struct fix *fix, const struct buf *text)
{
    struct tx *tx = fix_write(fix);
    struct document document = {.user_id = fix->workspace_id,
                                .name = "Made up",
                                .kind = DOCUMENT_TEXT,
                                .bytes = (int64_t)text->len};
    const struct document_source source = {.data = text->data, .len = text->len};
    CHECK_INT(store_document_insert(tx, &document, &source, 0), OK);
    const char *id = arena_strdup(fix->arena, document.id);
    CHECK_INT(fix_commit(tx), OK);
    return id;
}

/* A vocabulary as no language has it, in one document. */
static const char *add_different_words(struct fix *fix)
{
    AUTO_BUF text = BUF_INIT(64 << 20);
    for (unsigned i = 0; i < DIFFERENT_WORDS; i++) {
        for (unsigned n = i, k = 0; k < 5; n /= 26, k++)
            (void)buf_append_char(&text, (char)('a' + n % 26));
        (void)buf_append_str(&text, i % 12 == 11 ? ". " : " ");
    }
    return add_text(fix, &text);
}

static const char *add_document(struct fix *fix, size_t chars)
{
    AUTO_BUF text = BUF_INIT(64 << 20);
    for (int section = 1; text.len < chars; section++) {
        (void)buf_printf(&text, "\n\nPart %d ", section);
        add_word(&text);
        (void)buf_append_str(&text, "\n\n");
        for (int i = 0; i < 5; i++)
            add_sentence(&text, 14);
        (void)buf_printf(&text, "It costs %d rupees.", (int)(chance() * 5000));
    }
    return add_text(fix, &text);
}

static size_t ready(struct fix *fix)
{
    struct tx *tx = fix_read(fix);
    struct text_list ids = {0};
    CHECK_INT(store_document_ids(tx, fix->workspace_id, true, &ids), OK);
    fix_rollback(tx);
    return ids.count;
}

/* Of this thread: other programs on the machine do not count. */
static int64_t cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void ask(struct fix *fix, struct know *know, const struct text_list *ids, double seconds,
                const char *name)
{
    static int64_t took_us[QUESTIONS_MAX];
    size_t count = 0, hits_count = 0;
    int64_t longest_us = 0;
    int64_t until_us = clock_now_us() + (int64_t)(seconds * 1e6);
    while (count < QUESTIONS_MAX && clock_now_us() < until_us) {
        AUTO_BUF question = BUF_INIT(1000);
        (void)buf_append_str(&question, "how much is the ");
        for (int i = 0; i < 4; i++) {
            add_word(&question);
            (void)buf_append_char(&question, ' ');
        }
        struct tx *tx = fix_read(fix);
        struct hit_list hits = {0};
        int64_t began_us = cpu_us(), began_wall_us = clock_now_us();
        const struct know_question asked = {.document_ids = ids, .query = question.data};
        CHECK_INT(know_search(know, tx, &asked, 5, &hits), OK);
        took_us[count++] = cpu_us() - began_us;
        longest_us = MAX(longest_us, clock_now_us() - began_wall_us);
        hits_count += hits.count > 0;
        fix_rollback(tx);
    }
    qsort(took_us, count, sizeof(*took_us), by_time);
    printf(
        "%-24s %6zu searches (%zu with hits): p50 %.2f ms, p99 %.2f ms, most %.2f ms of CPU; none "
        "waited longer than %.2f ms\n",
        name, count, hits_count, (double)took_us[count / 2] / 1e3,
        (double)took_us[count * 99 / 100] / 1e3, (double)took_us[count - 1] / 1e3,
        (double)longest_us / 1e3);
}

static void print_size(const struct fix *fix, size_t chars)
{
    char path[128];
    struct stat found;
    snprintf(path, sizeof(path), "%s/index.db", fix->dir);
    if (stat(path, &found) == 0)
        printf("index: %.1f MB, %.2f bytes a character\n", (double)found.st_size / 1e6,
               (double)found.st_size / (double)chars);
}

/* Until the index has all of them. */
static void await_index(struct fix *fix, struct know *know, const char *last)
{
    for (;;) {
        struct tx *tx = fix_read(fix);
        struct word_scope *scope =
            word_scope_open(know_index(know), &(struct text_list){&last, 1}, tx->arena);
        bool is_there = scope && word_scope_passages(scope) > 0;
        word_scope_free(scope);
        fix_rollback(tx);
        if (is_there)
            return;
        usleep(20000);
    }
}

TEST(search_speed)
{
    size_t documents = getenv("DOCUMENTS") ? strtoul(getenv("DOCUMENTS"), NULL, 10) : 50;
    size_t chars = getenv("CHARS") ? strtoul(getenv("CHARS"), NULL, 10) : 200000;
    struct fix fix = {0};
    fix_begin(&fix, false);
    fix_people(&fix);
    struct loop *loop = loop_new("know");
    const struct know_config config = {.store = fix.store, .loop = loop};
    struct know *know;
    struct fault fault = {0};
    REQUIRE(know_open(&config, &know, &fault) == OK);
    REQUIRE(loop_start(loop) == OK);
    const char **ids = arena_new_n(fix.arena, const char *, documents + 1);
    int64_t began_us = clock_now_us();
    for (size_t i = 0; i < documents; i++) {
        ids[i] = add_document(&fix, chars);
        while (i + 1 > ready(&fix) + 150)
            usleep(20000);
    }
    while (ready(&fix) < documents)
        usleep(20000);
    int64_t read_us = clock_now_us();
    for (size_t i = 0; i < documents; i++)
        await_index(&fix, know, ids[i]);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%zu documents of %zu characters: read in %.1f s, in the index %.1f s later, %.1f s of "
           "CPU\n",
           documents, chars, (double)(read_us - began_us) / 1e6,
           (double)(clock_now_us() - read_us) / 1e6,
           (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6);
    print_size(&fix, documents * chars);
    struct text_list all = {ids, documents};
    ask(&fix, know, &all, 1, "warming");
    ask(&fix, know, &all, 4, "idle");
    size_t room = DOCUMENTS_MAX - MIN(documents, (size_t)DOCUMENTS_MAX);
    for (size_t i = 0; i < READ_MEANWHILE && room > READ_MEANWHILE; i++)
        (void)add_document(&fix, chars);
    if (room > READ_MEANWHILE) {
        ask(&fix, know, &all, 3, "while documents are read");
        (void)add_different_words(&fix);
        ask(&fix, know, &all, 10, "while words are indexed");
    }
    loop_join(loop);
    know_close(know);
    store_close(fix.store);
    fix.store = NULL;
    loop_free(loop);
    fix_end(&fix);
}
