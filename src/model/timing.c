#include "model/timing.h"

#include <math.h>

#include "base/attr.h"

#define POINT(point, key, sentence)                                                                \
    ROW_REAL(struct turn_timing, after_ms[point], key, .flags = FIELD_NULL_EMPTY,                  \
             .standard_real = NAN, .about = sentence)
static const struct field rows[] = {
    ROW_TIME(struct turn_timing, at_wall_ms, "at",
             .about = "When the caller's voice ended, or what they typed was sent; the figures "
                      "beside it are ms after that, null where the turn did not pass there."),
    POINT(POINT_ENDPOINT, "endpointMs", "The caller was taken to have finished."),
    POINT(POINT_LOOK_UP, "lookUpMs",
          "The agent's documents were asked; like all that follows it may come before the "
          "endpoint, as replies are begun while the caller pauses."),
    POINT(POINT_LOOKED_UP, "lookedUpMs", "The documents answered."),
    POINT(POINT_ASKED, "modelAskedMs", "The language model was asked."),
    POINT(POINT_FIRST_TOKEN, "firstTokenMs", "The model's first token."),
    POINT(POINT_HOLD, "holdMs", "The caller is told that it takes a moment."),
    POINT(POINT_FIRST_SENTENCE, "firstSentenceMs", "The first sentence is given to the voice."),
    POINT(POINT_FIRST_BYTE, "firstByteMs", "The voice's first sound."),
    POINT(POINT_FIRST_PACKET, "firstPacketMs", "The first packet to the caller."),
};
FIELD_TABLE(turn_timing_table, struct turn_timing, "TurnTiming", rows,
            .about = "Where the time went before a turn of the agent.");
_Static_assert(ARRAY_LEN(rows) == 1 + POINT_COUNT, "a row for each point");

const char *const timing_step_names[STEP_COUNT] = {
    [STEP_ENDPOINT] = "endpoint",       [STEP_LOOK_UP] = "look_up",
    [STEP_FIRST_TOKEN] = "first_token", [STEP_FIRST_SENTENCE] = "first_sentence",
    [STEP_FIRST_BYTE] = "first_byte",   [STEP_FIRST_PACKET] = "first_packet",
};

#define AFTER(point) (1U << (point))
static const struct {
    enum timing_point to;
    unsigned after; /* points that lead to it */
    bool from_start;
} steps[STEP_COUNT] = {
    [STEP_ENDPOINT] = {POINT_ENDPOINT, 0, true},
    [STEP_LOOK_UP] = {POINT_LOOKED_UP, AFTER(POINT_LOOK_UP), false},
    [STEP_FIRST_TOKEN] = {POINT_FIRST_TOKEN, AFTER(POINT_ASKED), false},
    [STEP_FIRST_SENTENCE] = {POINT_FIRST_SENTENCE, AFTER(POINT_FIRST_TOKEN) | AFTER(POINT_ENDPOINT),
                             false},
    [STEP_FIRST_BYTE] = {POINT_FIRST_BYTE, AFTER(POINT_FIRST_SENTENCE) | AFTER(POINT_HOLD), false},
    [STEP_FIRST_PACKET] = {POINT_FIRST_PACKET, AFTER(POINT_FIRST_BYTE), false},
};

bool timing_step(const struct turn_timing *timing, enum timing_step step, double *out_from_ms,
                 double *out_to_ms)
{
    double to_ms = timing->after_ms[steps[step].to];
    double from_ms = steps[step].from_start ? 0 : NAN;
    for (int i = 0; i < POINT_COUNT; i++) {
        double ms = timing->after_ms[i];
        bool leads = (steps[step].after & AFTER(i)) && ms <= to_ms;
        if (leads && !(from_ms >= ms))
            from_ms = ms;
    }
    if (!(from_ms <= to_ms)) /* either is NaN */
        return false;
    *out_from_ms = from_ms;
    *out_to_ms = to_ms;
    return true;
}
