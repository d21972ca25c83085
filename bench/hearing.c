/* How many words embedded recognition gets wrong: sentences said by flite's two voices, through
 * Opus and the detector of speech, to the real program.
 *
 *     hearing SPEECH-PROGRAM [first] [brown|babble DB] [VOCABULARY-FILE [SENTENCES-FILE]]
 *
 * first: each sentence is the first of a call. Without SENTENCES-FILE (a line each, words as they
 * are heard) they are those of tests/voice/everyday.def and strangers.def, and the half that tuned
 * is told apart from the half that did not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/mem.h"
#include "line.h"
#include "rig.h"

enum { FILE_MAX_BYTES = 1024 * 1024, SENTENCES_MAX = 1000 };

static const char *const everyday[] = {
#define EVERYDAY(tuned, held) tuned, held,
#include "everyday.def"
#include "strangers.def"
#undef EVERYDAY
};

struct score {
    unsigned words, wrong, sentences, whole, marked[2]; /* of the whole ones, of the others */
};

struct bench {
    struct speech_rig rig;
    struct stt *stt;
    struct heard heard;
    bool is_first;
    enum noise noise;
    double db;
    struct buf vocabulary, file;
    const char *sentences[SENTENCES_MAX];
    size_t count;
    double spoken_s;
};

static void read_file(const char *path, struct buf *out)
{
    char piece[4096];
    size_t len;
    FILE *in = path ? fopen(path, "rb") : NULL;
    buf_init(out, FILE_MAX_BYTES);
    while (in && (len = fread(piece, 1, sizeof(piece), in)))
        (void)buf_append(out, piece, len);
    if (in)
        fclose(in);
    (void)buf_append_char(out, '\0');
}

static bool read_arguments(struct bench *bench, int argc, char **argv)
{
    int at = 2;
    if (argc < 2)
        return false;
    bench->is_first = argc > 2 && strcmp(argv[at], "first") == 0;
    at += bench->is_first;
    if (at + 1 < argc && (strcmp(argv[at], "brown") == 0 || strcmp(argv[at], "babble") == 0)) {
        bench->noise = strcmp(argv[at], "brown") == 0 ? NOISE_BROWN : NOISE_BABBLE;
        bench->db = atof(argv[at + 1]);
        at += 2;
    }
    read_file(at < argc ? argv[at] : NULL, &bench->vocabulary);
    read_file(at + 1 < argc ? argv[at + 1] : NULL, &bench->file);
    char *rest = bench->file.data;
    for (char *line; at + 1 < argc && (line = strsep(&rest, "\n"));)
        if (*line && bench->count < SENTENCES_MAX)
            bench->sentences[bench->count++] = line;
    for (size_t i = 0; at + 1 >= argc && i < ARRAY_LEN(everyday); i++)
        bench->sentences[bench->count++] = everyday[i];
    return true;
}

static void listen_anew(struct bench *bench)
{
    if (bench->stt)
        bench->stt->ops->close(bench->stt);
    bench->stt = speech_rig_listen(&bench->rig, bench->vocabulary.data, &bench->heard);
}

static void try_one(struct bench *bench, const char *speaker, size_t i, struct score *score)
{
    const char *want = bench->sentences[i];
    struct said said;
    struct carried carried;
    said_by(speaker, want, &said);
    said_in_noise(&said, bench->noise, bench->db, (unsigned)i);
    line_carry(&said, 0, &carried);
    size_t samples = carried.heard.len / sizeof(int16_t);
    if (bench->is_first || i == 0)
        listen_anew(bench);
    speech_rig_hear_16k(&bench->rig, bench->stt, (const int16_t *)(void *)carried.heard.data,
                        samples, &bench->heard);
    unsigned wrong = word_errors(want, bench->heard.text);
    if (wrong)
        printf("  %s: %s => %s [%s]\n", speaker, want, bench->heard.text, bench->heard.unsure);
    score->words += (unsigned)words_of(want);
    score->wrong += wrong;
    score->sentences++;
    score->whole += wrong == 0;
    score->marked[wrong > 0] += *bench->heard.unsure != '\0';
    bench->spoken_s += (double)samples / STT_RATE_HZ;
    carried_clear(&carried);
    said_clear(&said);
}

static void show(const char *what, const struct score *score)
{
    printf("%-24s %5.1f %% of %4u words wrong, %3u of %3u sentences right, %u of them and "
           "%u of the others with an unsure word\n",
           what, 100.0 * score->wrong / MAX(score->words, 1), score->words, score->whole,
           score->sentences, score->marked[0], score->marked[1]);
}

int main(int argc, char **argv)
{
    static const char *const speakers[] = {"slt", "rms"};
    static const char *const halves[] = {"tuned", "held out"};
    static struct bench bench;
    if (!read_arguments(&bench, argc, argv)) {
        fprintf(stderr,
                "usage: hearing SPEECH-PROGRAM [first] [brown|babble DB] [VOCABULARY [SENTENCES]]"
                "\n");
        return 2;
    }
    speech_rig_open_with(&bench.rig, argv[1]);
    struct score all[2] = {0};
    for (size_t s = 0; s < ARRAY_LEN(speakers); s++) {
        struct score scores[2] = {0};
        for (size_t i = 0; i < bench.count; i++)
            try_one(&bench, speakers[s], i, &scores[i % 2]);
        for (size_t h = 0; h < ARRAY_LEN(halves); h++) {
            char what[32];
            snprintf(what, sizeof(what), "%s, %s", speakers[s], halves[h]);
            show(what, &scores[h]);
            all[h].words += scores[h].words;
            all[h].wrong += scores[h].wrong;
            all[h].sentences += scores[h].sentences;
            all[h].whole += scores[h].whole;
            for (size_t m = 0; m < ARRAY_LEN(scores[h].marked); m++)
                all[h].marked[m] += scores[h].marked[m];
        }
    }
    for (size_t h = 0; h < ARRAY_LEN(halves); h++)
        show(halves[h], &all[h]);
    bench.stt->ops->close(bench.stt);
    speech_rig_close(&bench.rig);
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    double cpu_s = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
    printf("%.0f s of speech, %.1f s of CPU, %ld MB\n", bench.spoken_s, cpu_s,
           used.ru_maxrss / 1024);
    buf_clear(&bench.vocabulary);
    buf_clear(&bench.file);
    return 0;
}
