/* What the caller types. Messages are let through by an allowance, and gathered while a reply is
 * being made (or said, where it may not be cut): one answer at a time, however fast they come. */
#include <string.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "talk/internal.h"
#include "text/words.h"

enum {
    TYPED_MAX_CHARS = 2000, /* contract, Typed messages */
    TYPED_AT_ONCE = 5,
    TYPED_EVERY_US = 1000 * 1000,
};

bool typed_settle(struct talk *talk, int64_t now_us)
{
    struct typed *typed = &talk->hear.typed;
    bool is_insisting = speech_front(&talk->voice.speech) && !listen_may_interrupt(talk);
    if (typed->text.len == 0 || mind_is_replying(&talk->mind) || is_insisting)
        return false;
    AUTO_MEM char *text = buf_take(&typed->text, NULL);
    typed->chars = 0;
    listen_interrupt(talk, now_us);
    hear_turn(&talk->hear, text, typed->at_us);
    talk->hear.voice_end_us = talk->hear.turn_end_us = 0;
    listen_answer(talk, text, now_us);
    timing_commit(&talk->timing, typed->at_us);
    return true;
}

void talk_chat(struct talk *talk, const char *text, int64_t now_us)
{
    struct typed *typed = &talk->hear.typed;
    if (talk->floor == TURN_ABSENT || talk->floor == TURN_OVER || !*text)
        return;
    if (!bucket_take(&typed->allowance, TYPED_EVERY_US, TYPED_AT_ONCE, 1, now_us)) {
        metric_add(METRIC_TYPED_DROPPED, 1);
        return;
    }
    size_t bytes = text_bytes(text, TYPED_MAX_CHARS);
    AUTO_MEM char *cut = mem_strndup(text, bytes);
    size_t chars = text_length(cut) + 1;
    if (typed->chars + chars > ENDPOINT_MAX_CHARS)
        hear_typed(&talk->hear);
    if (typed->text.len == 0)
        typed->at_us = now_us;
    else
        buf_append_char(&typed->text, '\n');
    buf_append_str(&typed->text, cut);
    typed->chars += chars;
    talk->silence.reminders = 0;
    talk_settle(talk, now_us);
}
