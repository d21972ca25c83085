/* espeak-ng: every language of the catalog, 22.05 kHz. One global state, set before each line. */
#include <espeak-ng/speak_lib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "speaking.h"

enum {
    BUFFER_MS = 60,
    RATE_NORMAL_WPM = 175, /* espeak's own default; 80 is its least */
    RATE_MIN_WPM = 80,
    RATE_MAX_WPM = 450,
    RUN_MAX_CHARS = 60,  /* without a space */
    TIGHT_DOTS_MAX = 24, /* of one text; about a hundred overflow a buffer of espeak-ng 1.51 */
};

/* Where espeak's voice has another name than the ISO code. */
static const struct {
    const char *iso, *voice;
} names[] = {{"en", "en-us"}, {"pt", "pt-br"}, {"zh", "cmn"}};

struct stream {
    synth_fn *fn;
    void *arg;
};

static int rate_hz; /* 0: not initialised */

static int on_samples(short *samples, int count, espeak_EVENT *events)
{
    struct stream *stream = events->user_data;
    if (!stream || !samples || count <= 0)
        return 0;
    return stream->fn(stream->arg, samples, (size_t)count) ? 0 : 1;
}

static bool choose_voice(const struct synth_wish *wish)
{
    const char *voice = wish->language;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i].iso, wish->language) == 0)
            voice = names[i].voice;
    bool is_variant =
        *wish->speaker && strcmp(wish->speaker, "standard") != 0 && strlen(wish->speaker) <= 2;
    char name[96];
    snprintf(name, sizeof(name), "%s%s%s", voice, is_variant ? "+" : "",
             is_variant ? wish->speaker : "");
    return espeak_SetVoiceByName(name) == EE_OK;
}

static enum err open_espeak(const struct synth_wish *wish, int *out_rate_hz, struct fault *fault)
{
    if (rate_hz == 0) {
        rate_hz = espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, BUFFER_MS, NULL,
                                    espeakINITIALIZE_DONT_EXIT);
        espeak_SetSynthCallback(on_samples);
    }
    if (rate_hz <= 0)
        return fault_set(fault, ERR_INTERNAL, "espeak-ng has no data (package espeak-ng-data)");
    if (!choose_voice(wish))
        return fault_set(fault, ERR_UNSUPPORTED, "espeak-ng does not speak %s", wish->language);
    *out_rate_hz = rate_hz;
    return OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

/* One with more text right after it: of an abbreviation, a version, an address. */
static bool is_tight_dot(const char *at)
{
    return at[0] == '.' && at[1] && at[1] != '.' && !is_space(at[1]);
}

/* Bytes of the character at `at`, whose bytes that follow are bounded where it is no UTF-8. */
static size_t char_bytes(const char *at)
{
    size_t len = 1;
    while (len < 4 && ((unsigned char)at[len] & 0xC0) == 0x80)
        len++;
    return len;
}

char *espeak_text(const char *text)
{
    size_t dots = 0, run = 0, out = 0;
    for (const char *at = text; *at; at++)
        dots += is_tight_dot(at);
    char *spaced = mem_new_n(char, 2 * strlen(text) + 1);
    for (const char *at = text; *at;) {
        size_t len = char_bytes(at);
        run = is_space(*at) ? 0 : run + 1;
        if (run > RUN_MAX_CHARS) {
            spaced[out++] = ' ';
            run = 1;
        }
        memcpy(spaced + out, at, len);
        out += len;
        if (dots > TIGHT_DOTS_MAX && is_tight_dot(at)) {
            spaced[out++] = ' ';
            run = 0;
        }
        at += len;
    }
    spaced[out] = '\0';
    return spaced;
}

static void say_espeak(const struct synth_wish *wish, const char *text, synth_fn *fn, void *arg)
{
    struct stream stream = {fn, arg};
    int wpm = (int)(RATE_NORMAL_WPM * wish->speed);
    if (!choose_voice(wish))
        return;
    espeak_SetParameter(espeakRATE, MIN(MAX(wpm, RATE_MIN_WPM), RATE_MAX_WPM), 0);
    AUTO_MEM char *spaced = espeak_text(text);
    espeak_Synth(spaced, strlen(spaced) + 1, 0, POS_CHARACTER, 0, espeakCHARS_UTF8, NULL, &stream);
    espeak_Synchronize();
}

const struct synth espeak_synth = {"espeak", open_espeak, say_espeak};
