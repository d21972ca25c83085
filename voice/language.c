/* PocketSphinx adds the models' scores after it has raised each to the language weight, so a share
 * counts for what it says only when it is raised likewise. What comes out is within a factor of two
 * of the sum: the better of both. */
#include "language.h"

#include <math.h>
#include <pocketsphinx.h>
#include <sphinxbase/ngram_model.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "general.h"
#include "model.h"

enum { FILE_MAX_BYTES = 32 * 1024 * 1024, CACHE_SIZE = 8, WORD_MAX_BYTES = 64 };

static const double OWN_SHARE =
    0.4; /* found on the sentences of everyday.def that tune, and on the demo page's */

static struct {
    uint8_t hash[SHA256_BYTES];
    struct language language;
} cache[CACHE_SIZE];
static unsigned oldest;

static int file_of(const char *name, const struct buf *text)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    size_t at = 0;
    while (fd >= 0 && at < text->len) {
        ssize_t written = write(fd, text->data + at, text->len - at);
        if (written > 0) {
            at += (size_t)written;
            continue;
        }
        close(fd);
        fd = -1;
    }
    return fd;
}

/* The agent's words that are not among the general ones, after these. */
static int dictionary_of(const struct buf *own)
{
    AUTO_BUF all = BUF_INIT(FILE_MAX_BYTES);
    const struct buf *general = general_dictionary();
    (void)buf_append(&all, general->data, general->len);
    const char *end = own->data + own->len;
    for (const char *line = own->data; line < end;) {
        char word[WORD_MAX_BYTES];
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        snprintf(word, sizeof(word), "%.*s", (int)strcspn(line, " (\n"), line);
        if (!general_has(word))
            (void)buf_append(&all, line, (size_t)(next - line));
        line = next;
    }
    return all.is_full ? -1 : file_of("dictionary", &all);
}

static ngram_model_t *read_own(const struct buf *arpa)
{
    char path[64];
    int fd = file_of("arpa", arpa);
    if (fd < 0)
        return NULL;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ngram_model_t *own =
        ngram_model_read(general_settings(), path, NGRAM_ARPA, general_logarithms());
    close(fd);
    return own;
}

static ngram_model_t *interpolate(ngram_model_t *own, ngram_model_t *general)
{
    static char own_name[] = "own", general_name[] = "general";
    char *names[] = {own_name, general_name};
    double weight = cmd_ln_float_r(general_settings(), "-lw");
    float32 shares[] = {(float32)pow(OWN_SHARE, weight), (float32)pow(1 - OWN_SHARE, weight)};
    ngram_model_t *models[] = {own, general};
    return ngram_model_set_init(general_settings(), models, names, shares, 2);
}

static enum err make(const char *vocabulary, struct language *out, struct fault *fault)
{
    AUTO_BUF arpa = BUF_INIT(FILE_MAX_BYTES);
    AUTO_BUF dictionary = BUF_INIT(FILE_MAX_BYTES);
    if (!general_model())
        return fault_set(fault, ERR_INTERNAL,
                         "the general language model is not there (package pocketsphinx-en-us)");
    enum err err = model_write(vocabulary, &arpa, &dictionary);
    if (err)
        return fault_set(fault, err, "the vocabulary is too large for a language model");
    ngram_model_t *own = read_own(&arpa);
    out->model = own ? interpolate(own, general_model()) : NULL;
    out->dictionary_fd = out->model ? dictionary_of(&dictionary) : -1;
    ngram_model_free(own);
    if (out->dictionary_fd >= 0)
        return OK;
    ngram_model_free(out->model);
    return fault_set(fault, ERR_IO, "no memory for a language model");
}

enum err language_of(const char *vocabulary, struct language *out, struct fault *fault)
{
    uint8_t hash[SHA256_BYTES];
    crypto_sha256(vocabulary, strlen(vocabulary), hash);
    for (size_t i = 0; i < CACHE_SIZE; i++)
        if (cache[i].language.model && memcmp(cache[i].hash, hash, sizeof(hash)) == 0) {
            *out = cache[i].language;
            return OK;
        }
    struct language language;
    enum err err = make(vocabulary, &language, fault);
    if (err)
        return err;
    unsigned place = oldest++ % CACHE_SIZE;
    if (cache[place].language.model) {
        ngram_model_free(cache[place].language.model);
        close(cache[place].language.dictionary_fd);
    }
    memcpy(cache[place].hash, hash, sizeof(hash));
    cache[place].language = *out = language;
    return OK;
}
