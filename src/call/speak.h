/* Gives the voice what a call has to say. A fixed line (a greeting, a holding line, the service's
 * own words) is taken out of the loop's cache where some call has said it before, and else put into
 * it as it is said. Pieces are heard in the order they were asked for.
 *
 *     a piece --fixed, in the cache, nothing owed before it--> media, as packets
 *        '---------------------------> voice --> media, as samples or packets (--> cache)
 *
 * Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct encoded_line;
struct engines;
struct line_cache;
struct media;
struct talk;
struct talk_action;
struct tts_event;

enum { SPEAK_CACHED_MAX = 3 /* pieces that the voice is asked for at once */ };

struct speak {
    /* Set by the owner, borrowed. */
    struct engines *engines;
    struct media *media;
    struct talk *talk;
    struct line_cache *lines;
    const char *workspace_id;

    unsigned owed; /* pieces that the voice was asked for and has not finished */
    struct {
        uint32_t gen; /* 0: none */
        struct encoded_line *line;
    } cached[SPEAK_CACHED_MAX]; /* fixed lines that the voice says for the first time */
};

void speak_piece(struct speak *speak, const struct talk_action *action, int64_t now_us);
void speak_heard(struct speak *speak, const struct tts_event *event, int64_t now_us);
/* The voice was cancelled, or is another now: it owes nothing, and what waits is dropped. */
void speak_drop(struct speak *speak);
void speak_clear(struct speak *speak);
