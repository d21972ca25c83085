/* Lines are synthesised one after the other, each when less than AHEAD_US of audio is in hand; what
 * is made is resampled once and leaves in chunks. The other side has at most AHEAD_US more than it
 * has played. */
#include "speaking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/resample.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "link.h"

enum {
    OUT_RATE_HZ = 48000,
    CHUNK_SAMPLES = OUT_RATE_HZ * 6 / 100,
    CHUNK_US = 60000,
    AHEAD_US = 1500000, /* of play: rides out a synthesis of another call's long line */
    LINES_MAX = 64,
    LINE_MAX_SAMPLES = OUT_RATE_HZ * 120, /* a line longer than that is cut */
    SLOW_RETRY_US = 20000,
    WORKSPACE_SIZE = 40,
    ONSET_PEAK = 120, /* quieter than that is the silence before a line: flite's is 200 ms */
    ONSET_BLOCK_MS = 5,
    ONSET_MAX_MS = 300,    /* cut no more than this */
    ONSET_KEEP_BLOCKS = 4, /* before the first loud one: a soft consonant */
};

struct line {
    struct list_node node;
    uint32_t gen;
    char *text;
};

struct speaking {
    struct loop *loop;
    struct link *link;
    uint32_t id;
    const struct synth *synth;
    struct synth_wish wish;
    double volume;
    char workspace[WORKSPACE_SIZE];
    struct resampler *resampler;
    int rate_hz;
    struct timer timer;
    struct list_node lines; /* not yet synthesised */
    unsigned line_count;
    struct buf made; /* samples of the line at `gen`, not yet sent */
    uint32_t gen;
    bool is_onset;        /* the line has not been loud yet */
    size_t onset_samples; /* cut from it so far */
    bool has_line;        /* made belongs to a line whose end was not told */
    int64_t played_us;    /* when all that was sent will have been played */
};

static const struct synth *const synths[] = {&flite_synth, &espeak_synth};

static void on_timer(void *arg);

/* The next line of text up to LF, cut to the room there is. */
static const char *take_field(const char *at, char *out, size_t size)
{
    size_t len = strcspn(at, "\n");
    snprintf(out, size, "%.*s", (int)len, at);
    return at[len] ? at + len + 1 : at + len;
}

enum err speaking_new(struct loop *loop, struct link *link, uint32_t id, const char *wish,
                      struct speaking **out, struct fault *fault)
{
    char engine[32], speed[32], volume[32], workspace[WORKSPACE_SIZE];
    struct synth_wish wanted = {0};
    wish = take_field(wish, engine, sizeof(engine));
    wish = take_field(wish, wanted.language, sizeof(wanted.language));
    wish = take_field(wish, wanted.speaker, sizeof(wanted.speaker));
    wish = take_field(wish, speed, sizeof(speed));
    wish = take_field(wish, volume, sizeof(volume));
    take_field(wish, workspace, sizeof(workspace));
    wanted.speed = fmin(fmax(strtod(speed, NULL), 0.2), 4);
    const struct synth *synth = NULL;
    for (size_t i = 0; i < ARRAY_LEN(synths); i++)
        if (strcmp(synths[i]->id, engine) == 0)
            synth = synths[i];
    if (!synth)
        return fault_set(fault, ERR_UNSUPPORTED, "no synthesiser %s", engine);
    int rate_hz = 0;
    enum err err = synth->open(&wanted, &rate_hz, fault);
    if (err)
        return err;
    struct speaking *speaking = mem_new(struct speaking);
    *speaking = (struct speaking){.loop = loop, .link = link, .id = id, .synth = synth};
    speaking->wish = wanted;
    speaking->volume = fmin(fmax(strtod(volume, NULL), 0), 4);
    speaking->rate_hz = rate_hz;
    snprintf(speaking->workspace, sizeof(speaking->workspace), "%s", workspace);
    speaking->resampler = resampler_new(rate_hz, OUT_RATE_HZ);
    buf_init(&speaking->made, LINE_MAX_SAMPLES * sizeof(int16_t));
    list_init(&speaking->lines);
    timer_init(&speaking->timer, loop, on_timer, speaking);
    *out = speaking;
    return OK;
}

static void drop_line(struct speaking *speaking, struct line *line)
{
    list_remove(&line->node);
    speaking->line_count--;
    mem_free(line->text);
    mem_free(line);
}

void speaking_cancel(struct speaking *speaking)
{
    while (!list_is_empty(&speaking->lines))
        drop_line(speaking, LIST_FIRST(&speaking->lines, struct line, node));
    buf_reset(&speaking->made);
    speaking->has_line = false;
    speaking->played_us = 0;
    timer_stop(&speaking->timer);
}

void speaking_free(struct speaking *speaking)
{
    if (!speaking)
        return;
    speaking_cancel(speaking);
    buf_clear(&speaking->made);
    resampler_free(speaking->resampler);
    mem_free(speaking);
}

/* Out. */

static void tell(struct speaking *speaking, enum voice_kind kind, const void *body, size_t len)
{
    link_send(speaking->link, &(struct voice_frame){kind, speaking->id, speaking->gen, body, len});
}

/* Sends what may be sent now; is_whole: the line is complete, so a short rest may go too. */
static void send_made(struct speaking *speaking, bool is_whole)
{
    int64_t now_us = clock_now_us();
    size_t sent = 0, chunk = CHUNK_SAMPLES * sizeof(int16_t);
    speaking->played_us = MAX(speaking->played_us, now_us);
    while (speaking->made.len - sent >= (is_whole ? 1 : chunk) &&
           speaking->played_us - now_us < AHEAD_US && !link_is_slow(speaking->link)) {
        size_t len = MIN(chunk, speaking->made.len - sent);
        tell(speaking, VOICE_AUDIO, speaking->made.data + sent, len);
        speaking->played_us += CHUNK_US * (int64_t)len / (int64_t)chunk;
        sent += len;
    }
    buf_consume(&speaking->made, sent);
}

/* Up to 0.8 of full scale a sample is scaled; beyond it bends, so that loud does not mean harsh. */
static int16_t scaled(double sample)
{
    const double knee = 0.8 * 32767, room = 0.2 * 32767;
    double size = fabs(sample);
    if (size > knee)
        size = knee + room * tanh((size - knee) / room);
    return (int16_t)copysign(size, sample);
}

static bool is_quiet(const int16_t *samples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (abs(samples[i]) > ONSET_PEAK)
            return false;
    return true;
}

/* The silence that a synthesiser puts before a line would only be waited for. Returns how many
 * samples to skip. */
static size_t cut_onset(struct speaking *speaking, const int16_t *samples, size_t count)
{
    size_t block = (size_t)speaking->rate_hz * ONSET_BLOCK_MS / 1000, skip = 0;
    size_t most = (size_t)speaking->rate_hz * ONSET_MAX_MS / 1000;
    while (speaking->is_onset && count - skip >= block) {
        bool is_loud = !is_quiet(samples + skip, block) || speaking->onset_samples + skip >= most;
        speaking->is_onset = !is_loud;
        skip += is_loud ? 0 : block;
    }
    if (!speaking->is_onset)
        skip -= MIN(skip, ONSET_KEEP_BLOCKS * block);
    speaking->onset_samples += skip;
    return skip;
}

static bool on_samples(void *arg, const int16_t *samples, size_t count)
{
    struct speaking *speaking = arg;
    size_t skip = speaking->is_onset ? cut_onset(speaking, samples, count) : 0;
    samples += skip;
    count -= skip;
    size_t most = resampler_out_max(speaking->resampler, count);
    if (buf_reserve(&speaking->made, most * sizeof(int16_t)) != OK)
        return false;
    int16_t *out = (int16_t *)(void *)(speaking->made.data + speaking->made.len);
    size_t got = resampler_run(speaking->resampler, samples, count, out);
    for (size_t i = 0; i < got && speaking->volume != 1; i++)
        out[i] = scaled(out[i] * speaking->volume);
    speaking->made.len += got * sizeof(int16_t);
    send_made(speaking, false);
    return true;
}

/* Should the line end this process, what is still kept here is lost. True: it is told and sent. */
static bool tell_saying(struct speaking *speaking)
{
    if (!link_is_sent(speaking->link))
        return false;
    tell(speaking, VOICE_SAYING, speaking->workspace, strlen(speaking->workspace));
    if (link_is_sent(speaking->link))
        return true;
    tell(speaking, VOICE_SAYING, NULL, 0);
    return false;
}

/* False: not yet, the line stays the next one. */
static bool synthesise(struct speaking *speaking)
{
    struct line *line = LIST_FIRST(&speaking->lines, struct line, node);
    speaking->gen = line->gen;
    if (!tell_saying(speaking))
        return false;
    speaking->has_line = speaking->is_onset = true;
    speaking->onset_samples = 0;
    speaking->synth->say(&speaking->wish, line->text, on_samples, speaking);
    tell(speaking, VOICE_SAYING, NULL, 0);
    int16_t rest[CHUNK_SAMPLES];
    size_t got = resampler_finish(speaking->resampler, rest, CHUNK_SAMPLES);
    (void)buf_append(&speaking->made, rest, got * sizeof(*rest));
    drop_line(speaking, line);
    return true;
}

static void on_timer(void *arg)
{
    struct speaking *speaking = arg;
    bool is_held = !speaking->has_line && !list_is_empty(&speaking->lines) && !synthesise(speaking);
    send_made(speaking, true);
    if (speaking->has_line && speaking->made.len == 0) {
        speaking->has_line = false;
        tell(speaking, VOICE_DONE, NULL, 0);
    }
    if (!speaking->has_line && list_is_empty(&speaking->lines))
        return;
    int64_t due_us = speaking->played_us - AHEAD_US;
    bool is_slow = is_held || link_is_slow(speaking->link);
    timer_set(&speaking->timer, is_slow ? clock_now_us() + SLOW_RETRY_US : due_us);
}

void speaking_speak(struct speaking *speaking, uint32_t gen, const char *text)
{
    if (speaking->line_count == LINES_MAX) {
        struct line *last = CONTAINER_OF(speaking->lines.prev, struct line, node);
        drop_line(speaking, last);
    }
    struct line *line = mem_new(struct line);
    line->gen = gen;
    line->text = mem_strdup(text);
    list_push_back(&speaking->lines, &line->node);
    speaking->line_count++;
    if (!timer_is_set(&speaking->timer))
        timer_set_after(&speaking->timer, 0);
}
