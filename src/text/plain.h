/* Makes what a model wrote into what a voice can say: markdown marks, links, code fences, tables,
 * emoji, control characters and <think> blocks go; list items become sentences. Thread: any. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"

/* Appends the speakable text of one piece. Nothing is appended when nothing is left. */
void plain_speech(const char *text, struct buf *out);

/* Takes <think>...</think> out of a stream, wherever a tag is cut. */
struct think_filter {
    bool is_inside;
    char held[16]; /* the start of what may be a tag */
    unsigned held_len;
};
void think_filter_init(struct think_filter *filter);
void think_filter_push(struct think_filter *filter, const char *delta, struct buf *out);
void think_filter_finish(struct think_filter *filter, struct buf *out);
