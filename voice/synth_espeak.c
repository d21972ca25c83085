/* espeak-ng: every language of the catalog, 22.05 kHz. One global state, set before each line. */
#include <espeak-ng/speak_lib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "speaking.h"

enum {
    BUFFER_MS = 60,
    RATE_NORMAL_WPM = 175, /* espeak's own default; 80 is its least */
    RATE_LEAST_WPM = 80,
    RATE_MAX_WPM = 450,
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

static void say_espeak(const struct synth_wish *wish, const char *text, synth_fn *fn, void *arg)
{
    struct stream stream = {fn, arg};
    int wpm = (int)(RATE_NORMAL_WPM * wish->speed);
    if (!choose_voice(wish))
        return;
    espeak_SetParameter(espeakRATE, MIN(MAX(wpm, RATE_LEAST_WPM), RATE_MAX_WPM), 0);
    espeak_Synth(text, strlen(text) + 1, 0, POS_CHARACTER, 0, espeakCHARS_UTF8, NULL, &stream);
    espeak_Synchronize();
}

const struct synth espeak_synth = {"espeak", open_espeak, say_espeak};
