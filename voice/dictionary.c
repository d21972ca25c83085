/* The dictionary is mapped, not read: 3 MB of it are touched only where words are looked up. Its
 * lines are nearly in order; an index of offsets, sorted once (about 40 ms), puts them in order. */
#include "dictionary.h"

#include <ctype.h>
#include <fcntl.h>
#include <flite/flite.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

cst_lexicon *cmu_lex_init(void);

static const char *const path = "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict";

enum { LINES_MAX = 400000, WORD_MAX_CHARS = 40 };

static struct {
    const char *text;
    size_t len;
    const char **lines; /* sorted by word */
    size_t count;
    bool is_tried;
} dictionary;

/* "word" and "word(2)" are the same word. */
static size_t word_len(const char *line)
{
    return strcspn(line, " (\n");
}

static int compare_lines(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    size_t x_len = word_len(x), y_len = word_len(y);
    int order = memcmp(x, y, MIN(x_len, y_len));
    if (order != 0)
        return order;
    if (x_len != y_len)
        return x_len < y_len ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void index_lines(void)
{
    dictionary.lines = mem_new_n(const char *, LINES_MAX);
    const char *at = dictionary.text, *end = at + dictionary.len;
    while (at < end && dictionary.count < LINES_MAX) {
        dictionary.lines[dictionary.count++] = at;
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    qsort(dictionary.lines, dictionary.count, sizeof(*dictionary.lines), compare_lines);
}

/* Without the file every word is said by rule. */
static void load(void)
{
    struct stat about;
    if (dictionary.is_tried)
        return;
    dictionary.is_tried = true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &about) == 0 && about.st_size > 0) {
        void *map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            dictionary.text = map;
            dictionary.len = (size_t)about.st_size - 1; /* the last line ends it */
            index_lines();
        }
    }
    close(fd);
}

/* The first line of a word, or the place where it would stand. */
static size_t lower_bound(const char *word)
{
    size_t low = 0, high = dictionary.count, len = strlen(word);
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *line = dictionary.lines[middle];
        size_t line_len = word_len(line);
        int order = memcmp(line, word, MIN(line_len, len));
        if (order < 0 || (order == 0 && line_len < len))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_word_at(size_t i, const char *word)
{
    return i < dictionary.count && word_len(dictionary.lines[i]) == strlen(word) &&
           memcmp(dictionary.lines[i], word, strlen(word)) == 0;
}

bool dictionary_has(const char *word)
{
    load();
    return is_word_at(lower_bound(word), word);
}

/* flite's phones are ARPAbet with stress: "ax0 b aw1 t"; PocketSphinx has no ax. */
static bool say_by_rule(const char *word, struct buf *out)
{
    static cst_lexicon *rules;
    if (!rules) {
        flite_init();
        rules = cmu_lex_init();
    }
    cst_val *phones = lex_lookup(rules, word, NULL, NULL);
    if (!phones)
        return false;
    (void)buf_append_str(out, word);
    for (const cst_val *at = phones; at; at = val_cdr(at)) {
        const char *phone = val_string(val_car(at));
        (void)buf_append_char(out, ' ');
        if (strncmp(phone, "ax", 2) == 0)
            phone = "ah";
        for (; isalpha((unsigned char)*phone); phone++)
            (void)buf_append_char(out, (char)toupper((unsigned char)*phone));
    }
    (void)buf_append_char(out, '\n');
    delete_val(phones);
    return true;
}

bool dictionary_lines(const char *word, struct buf *out)
{
    load();
    size_t i = lower_bound(word);
    if (strlen(word) > WORD_MAX_CHARS)
        return false;
    if (!is_word_at(i, word))
        return say_by_rule(word, out);
    for (; is_word_at(i, word); i++) {
        const char *line = dictionary.lines[i];
        (void)buf_append(out, line, strcspn(line, "\n"));
        (void)buf_append_char(out, '\n');
    }
    return true;
}
