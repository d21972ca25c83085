/* Scripted engines: they answer after a delay what the script says, fail when it says so, and make
 * tones in place of a voice. Two of each kind: `first` serves every language, `second` stands in
 * for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/registry.h"

enum { SIM_CHAR_SAMPLES = 3200 /* of tone for a character: 15 a second */, SIM_UTTERANCES = 16 };

struct buf;

struct sim_engines {
    int64_t stt_us, llm_us, tts_us;         /* from the question to the (first) answer */
    const char *utterances[SIM_UTTERANCES]; /* what the caller says, one for each pause */
    size_t next_utterance;
    bool tells_end;    /* the recogniser says that the caller has finished */
    bool has_partials; /* the words come while the caller speaks, after 600 ms of sound */
    const char *(*reply)(const struct llm_request *request); /* NULL: "This is the answer." */
    const char *tool;                                        /* called once by the next answer */
    const char *tool_arguments;
    int tool_repeats; /* so many answers after it call it as well; -1: every one */
    int llm_failures, tts_failures, stt_failures; /* of `first` */
    size_t llm_breaks_at, llm_stalls_at;          /* so many characters into its answer; 0: never */
    size_t tts_breaks_at;                         /* `first`, samples of a piece; 0: never */
    int stt_breaks;                               /* of `first`, in the middle of an utterance */
    size_t stt_breaks_at; /* samples of voice; 0: those of a partial transcript */
    size_t stt_tells_at;  /* `first` tells an utterance while the voice goes on; 0: never */
    bool is_llm_mute, is_tts_mute, is_stt_mute; /* `first` never answers */
    /* `first` and (both) `second` deliver packets; a sentence has whole ones, each unlike all
     * others. */
    bool has_packets, has_packets_both;
    struct buf *packets; /* their sums (sim_sum()), uint32_t each, in the order of telling */
    int llm_starts, llm_cancels, tts_speaks, stt_opens;
    size_t stt_samples;
    char stt_language[8], tts_language[8]; /* of the last one opened */
    char stt_hints[64];                    /* a space between */
    char last_request[8000];               /* a line a message */
    char said[4000];                       /* what the voice was asked to say, a line a piece */
};
extern struct sim_engines sim_engines;
/* What a voice makes of a sentence. */
size_t sim_samples(size_t chars, bool is_packets);
uint32_t sim_sum(const uint8_t *bytes, size_t len);

extern const struct engine_adapter sim_adapters[];
extern const size_t sim_adapter_count;
