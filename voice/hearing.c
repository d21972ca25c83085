/* One decoder a session, its language model shared (language.h). Without the second forward search,
 * over the words, the end of an utterance costs 2-10 ms instead of 70.
 *
 * A voice and its line are taken out of the sound by its mean. PocketSphinx learns that at the end
 * of an utterance, too late for the first one of a call; here it follows from the first frame on.
 */
#include "hearing.h"

#include <err.h>
#include <pocketsphinx.h>
#include <sphinxbase/cmn.h>
#include <sphinxbase/feat.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/mem.h"
#include "general.h"
#include "language.h"
#include "link.h"
#include "model.h"

enum {
    PIECE_SAMPLES = 16000 / 50,   /* the mean is followed each 20 ms */
    PARTIAL_SAMPLES = 16000 / 10, /* a partial result is looked for each 100 ms */
    TEXT_MAX_BYTES = 4096,
    CEPSTRA_MAX = 40,
};

static const double SURE_MIN = 0.2; /* content words: 3 % of the right ones, 27 of the wrong */
static const float EXPECTED_FRAMES = 100; /* that the mean before the first word counts for */
/* What is followed at a time, of words begun and ended: so that unclear sounds cost no more than
 * twice what clear ones do, and the end of an utterance comes soon in noise, too. */
static const char *const states_max = "3000", *const ends_max = "20";
static const char *const acoustic_model = "/usr/share/pocketsphinx/model/en-us/en-us";

struct hearing {
    struct link *link;
    uint32_t id;
    ps_decoder_t *decoder;
    float expected[CEPSTRA_MAX]; /* the mean, before anything was heard */
    bool is_in_utterance;
    size_t since_partial;
    char last[TEXT_MAX_BYTES];    /* what the last look gave */
    char partial[TEXT_MAX_BYTES]; /* told last */
};

static ps_decoder_t *make_decoder(const struct language *language)
{
    char dictionary[64];
    snprintf(dictionary, sizeof(dictionary), "/proc/self/fd/%d", language->dictionary_fd);
    cmd_ln_t *settings = cmd_ln_init(NULL, ps_args(), TRUE, "-hmm", acoustic_model, "-dict",
                                     dictionary, "-lw", GENERAL_WEIGHT, "-fwdflat", "no",
                                     "-maxhmmpf", states_max, "-maxwpf", ends_max, NULL);
    ps_decoder_t *decoder = settings ? ps_init(settings) : NULL;
    cmd_ln_free_r(settings);
    if (!decoder)
        return NULL;
    if (ps_set_lm(decoder, "words", language->model) == 0 && ps_set_search(decoder, "words") == 0)
        return decoder;
    ps_free(decoder);
    return NULL;
}

static void keep_expected(struct hearing *hearing)
{
    const cmn_t *cmn = ps_get_feat(hearing->decoder)->cmn_struct;
    for (int32 i = 0; i < MIN(cmn->veclen, CEPSTRA_MAX); i++)
        hearing->expected[i] = cmn->cmn_mean[i];
}

static void follow_mean(struct hearing *hearing)
{
    cmn_t *cmn = ps_get_feat(hearing->decoder)->cmn_struct;
    for (int32 i = 0; i < MIN(cmn->veclen, CEPSTRA_MAX); i++)
        cmn->cmn_mean[i] = (hearing->expected[i] * EXPECTED_FRAMES + cmn->sum[i]) /
                           (EXPECTED_FRAMES + (float)cmn->nframe);
}

enum err hearing_new(struct link *link, uint32_t id, const char *vocabulary, struct hearing **out,
                     struct fault *fault)
{
    struct language language;
    err_set_logfp(NULL); /* its log is its own */
    enum err err = language_of(vocabulary, &language, fault);
    if (err)
        return err;
    ps_decoder_t *decoder = make_decoder(&language);
    if (!decoder)
        return fault_set(fault, ERR_INTERNAL,
                         "PocketSphinx does not start (package "
                         "pocketsphinx-en-us)");
    struct hearing *hearing = mem_new(struct hearing);
    hearing->link = link;
    hearing->id = id;
    hearing->decoder = decoder;
    keep_expected(hearing);
    *out = hearing;
    return OK;
}

void hearing_free(struct hearing *hearing)
{
    if (!hearing)
        return;
    ps_free(hearing->decoder);
    mem_free(hearing);
}

static void tell(struct hearing *hearing, enum voice_kind kind, uint32_t gen, const char *text)
{
    link_send(hearing->link,
              &(struct voice_frame){kind, hearing->id, gen, text, text ? strlen(text) : 0});
}

/* Words at the front that two texts share, in bytes of the second. */
static size_t agreed(const char *before, const char *now)
{
    size_t whole = 0, at = 0;
    for (; now[at] && before[at] == now[at]; at++)
        if (now[at] == ' ')
            whole = at;
    bool ends_here = !now[at] && (!before[at] || before[at] == ' ');
    bool ended_before = !before[at] && now[at] == ' ';
    return ends_here || ended_before ? at : whole;
}

/* A word is told when two looks agree on it: what is heard first is often another one. */
static void tell_partial(struct hearing *hearing)
{
    AUTO_BUF text = BUF_INIT(TEXT_MAX_BYTES);
    const char *words = ps_get_hyp(hearing->decoder, NULL);
    if (words)
        model_readable(words, &text);
    const char *now = text.len ? text.data : "";
    AUTO_MEM char *sure = mem_strndup(now, agreed(hearing->last, now));
    snprintf(hearing->last, sizeof(hearing->last), "%s", now);
    if (!*sure || strcmp(sure, hearing->partial) == 0)
        return;
    snprintf(hearing->partial, sizeof(hearing->partial), "%s", sure);
    tell(hearing, VOICE_PARTIAL, 0, hearing->partial);
}

void hearing_push(struct hearing *hearing, const void *samples, size_t count)
{
    AUTO_MEM int16_t *aligned = mem_new_n(int16_t, count + 1);
    memcpy(aligned, samples, count * sizeof(*aligned));
    if (!hearing->is_in_utterance)
        ps_start_utt(hearing->decoder);
    hearing->is_in_utterance = true;
    for (size_t at = 0; at < count; at += PIECE_SAMPLES) {
        ps_process_raw(hearing->decoder, aligned + at, MIN(count - at, PIECE_SAMPLES), FALSE,
                       FALSE);
        follow_mean(hearing);
    }
    hearing->since_partial += count;
    if (hearing->since_partial < PARTIAL_SAMPLES)
        return;
    hearing->since_partial = 0;
    tell_partial(hearing);
}

/* The words whose share of all that may have been said instead is small. */
static void put_unsure(struct hearing *hearing, struct buf *out)
{
    int32 acoustic, language, backoff;
    for (ps_seg_t *at = ps_seg_iter(hearing->decoder); at; at = ps_seg_next(at)) {
        int32 share = ps_seg_prob(at, &acoustic, &language, &backoff);
        if (logmath_exp(ps_get_logmath(hearing->decoder), share) >= SURE_MIN)
            continue;
        AUTO_BUF word = BUF_INIT(TEXT_MAX_BYTES);
        model_readable(ps_seg_word(at), &word);
        if (word.len > 0)
            (void)buf_printf(out, "%s%s", out->len ? " " : "", word.data);
    }
}

/* What is followed may not reach the end, in much noise: then what was heard so far is told, and no
 * word of it is sure. */
static void put_words(struct hearing *hearing, struct buf *text, struct buf *unsure)
{
    const char *words = ps_get_hyp(hearing->decoder, NULL);
    AUTO_BUF so_far = BUF_INIT(TEXT_MAX_BYTES);
    if (words)
        model_readable(words, &so_far);
    ps_end_utt(hearing->decoder);
    words = ps_get_hyp(hearing->decoder, NULL);
    if (words) {
        model_readable(words, text);
        put_unsure(hearing, unsure);
    } else if (so_far.len > 0) {
        (void)buf_append_str(text, so_far.data);
        (void)buf_append_str(unsure, so_far.data);
    }
}

void hearing_flush(struct hearing *hearing, uint32_t gen)
{
    AUTO_BUF text = BUF_INIT(2 * TEXT_MAX_BYTES);
    AUTO_BUF unsure = BUF_INIT(TEXT_MAX_BYTES);
    if (hearing->is_in_utterance)
        put_words(hearing, &text, &unsure);
    hearing->is_in_utterance = false;
    hearing->since_partial = 0;
    hearing->partial[0] = hearing->last[0] = '\0';
    if (text.len > 0) {
        (void)buf_printf(&text, "\n%s", unsure.len ? unsure.data : "");
        tell(hearing, VOICE_FINAL, gen, text.data);
    }
    tell(hearing, VOICE_FLUSHED, gen, NULL);
}
