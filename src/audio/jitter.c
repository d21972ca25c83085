/* Sequence arithmetic after RFC 3550 appendix A.1: a jump is believed when two packets in a row
 * make it. */
#include "audio/jitter.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"

enum {
    TICK_US_NUM = 1000, /* 48 ticks are 1000 us */
    TICK_US_DEN = 48,
    FRAME_TICKS = 960,
    FRAME_US = 20000,
    QUIET_WAIT_US = 60000, /* nothing came for so long beyond its time: tell silence */
    BEHIND_MAX = 100,      /* RFC 3550: MAX_MISORDER */
    AHEAD_MAX = 3000,      /* RFC 3550: MAX_DROPOUT */
    SEQUENCE_BASE = 1 << 16,
};

static int64_t us_of(uint32_t ticks)
{
    return (int64_t)ticks * TICK_US_NUM / TICK_US_DEN;
}

void jitter_init(struct jitter *jitter)
{
    *jitter = (struct jitter){0};
}

static int64_t wait_us(const struct jitter *jitter)
{
    int64_t wait = JITTER_WAIT_MIN_US + 3 * jitter->stats.jitter_us;
    return MIN(wait, JITTER_WAIT_MAX_US);
}

static void measure(struct jitter *jitter, uint32_t timestamp, int64_t now_us)
{
    int64_t transit = now_us - us_of(timestamp);
    int64_t change = llabs(transit - jitter->transit_us);
    jitter->transit_us = transit;
    if (jitter->stats.packets > 1 && change < JITTER_WAIT_MAX_US * 8)
        jitter->stats.jitter_us += (change - jitter->stats.jitter_us) / 16;
}

static void start_at(struct jitter *jitter, uint16_t sequence, uint32_t timestamp)
{
    for (size_t i = 0; i < JITTER_SLOTS; i++)
        jitter->slots[i].is_used = false;
    jitter->waiting = 0;
    jitter->next_sequence = (uint64_t)SEQUENCE_BASE + sequence;
    jitter->next_timestamp = timestamp;
    jitter->has_jumped = false;
}

/* The extended sequence, or 0 for a packet that is not taken. */
static uint64_t place(struct jitter *jitter, uint16_t sequence, uint32_t timestamp)
{
    if (!jitter->next_sequence)
        start_at(jitter, sequence, timestamp);
    int diff = (int16_t)(sequence - (uint16_t)jitter->next_sequence);
    if (diff < -BEHIND_MAX || diff > AHEAD_MAX) {
        bool is_second = jitter->has_jumped && sequence == jitter->jump_sequence;
        jitter->has_jumped = true;
        jitter->jump_sequence = (uint16_t)(sequence + 1);
        if (!is_second)
            return 0;
        start_at(jitter, sequence, timestamp);
        return jitter->next_sequence;
    }
    if (diff < 0)
        return 0;
    return jitter->next_sequence + (unsigned)diff;
}

/* Nothing waits and the packet lies beyond the slots: what is between is long gone. */
static void skip_to(struct jitter *jitter, uint64_t sequence, uint32_t timestamp)
{
    jitter->stats.lost += sequence - jitter->next_sequence;
    jitter->next_sequence = sequence;
    jitter->next_timestamp = timestamp;
}

static void store(struct jitter *jitter, struct jitter_packet *slot,
                  const struct jitter_arrival *arrival, uint64_t extended, int64_t now_us)
{
    *slot = (struct jitter_packet){.is_used = true,
                                   .len = (uint16_t)arrival->len,
                                   .sequence = extended,
                                   .ticks = arrival->ticks,
                                   .timestamp = arrival->timestamp,
                                   .at_us = now_us};
    memcpy(slot->payload, arrival->payload, arrival->len);
    jitter->stats.packets++;
    jitter->waiting++;
    jitter->quiet_from_us = jitter->told_until_us = now_us + us_of(arrival->ticks);
    measure(jitter, arrival->timestamp, now_us);
}

void jitter_input(struct jitter *jitter, const struct jitter_arrival *arrival, int64_t now_us)
{
    if (arrival->ticks == 0 || arrival->len > JITTER_PAYLOAD_MAX_BYTES) {
        jitter->stats.refused++;
        return;
    }
    uint64_t extended = place(jitter, arrival->sequence, arrival->timestamp);
    if (!extended) {
        jitter->stats.late++;
        return;
    }
    if (extended >= jitter->next_sequence + JITTER_SLOTS && jitter->waiting == 0)
        skip_to(jitter, extended, arrival->timestamp);
    struct jitter_packet *slot = &jitter->slots[extended % JITTER_SLOTS];
    if (slot->is_used) /* a duplicate, or too far ahead of what waits */
        jitter->stats.refused++;
    else
        store(jitter, slot, arrival, extended, now_us);
}

static const struct jitter_packet *first_waiting(const struct jitter *jitter)
{
    for (uint64_t s = jitter->next_sequence; s < jitter->next_sequence + JITTER_SLOTS; s++) {
        const struct jitter_packet *slot = &jitter->slots[s % JITTER_SLOTS];
        if (slot->is_used)
            return slot;
    }
    return NULL;
}

static void release(struct jitter *jitter, const struct jitter_packet *slot,
                    struct jitter_step *out)
{
    /* the payload stays until the next input takes the slot */
    jitter->slots[slot->sequence % JITTER_SLOTS].is_used = false;
    jitter->waiting--;
    jitter->next_sequence = slot->sequence + 1;
    jitter->next_timestamp = slot->timestamp + slot->ticks;
    jitter->silence_ticks = 0;
    *out = (struct jitter_step){JITTER_PACKET, slot->payload, slot->len, slot->ticks};
}

/* The gap before `slot` is final. Tells the part of it that silence has not covered yet: first
 * LOST, then RECOVER for the frame next to the packet. False: nothing of it is left to tell. */
static bool close_gap(struct jitter *jitter, const struct jitter_packet *slot,
                      struct jitter_step *out)
{
    int32_t missing = (int32_t)(slot->timestamp - jitter->next_timestamp);
    missing -= (int32_t)jitter->silence_ticks;
    missing = MIN(missing, JITTER_CONCEAL_MAX_TICKS);
    jitter->stats.lost += slot->sequence - jitter->next_sequence;
    jitter->next_sequence = slot->sequence;
    jitter->silence_ticks = 0;
    jitter->recover_ticks = 0;
    if (missing <= 0)
        return false;
    uint32_t last = MIN((uint32_t)missing, slot->ticks);
    jitter->recover_ticks = last;
    if ((uint32_t)missing == last)
        return false;
    *out = (struct jitter_step){.kind = JITTER_LOST, .ticks = (uint32_t)missing - last};
    return true;
}

static bool tell_silence(struct jitter *jitter, int64_t now_us, struct jitter_step *out)
{
    if (jitter_deadline_us(jitter) > now_us)
        return false;
    jitter->told_until_us += FRAME_US;
    jitter->silence_ticks += FRAME_TICKS;
    *out = (struct jitter_step){.kind = JITTER_SILENCE, .ticks = FRAME_TICKS};
    return true;
}

bool jitter_output(struct jitter *jitter, int64_t now_us, struct jitter_step *out)
{
    if (!jitter->next_sequence)
        return false;
    const struct jitter_packet *slot = first_waiting(jitter);
    if (!slot)
        return tell_silence(jitter, now_us, out);
    if (slot->sequence != jitter->next_sequence) {
        if (now_us < slot->at_us + wait_us(jitter))
            return false;
        if (close_gap(jitter, slot, out))
            return true;
    }
    if (jitter->recover_ticks) {
        *out =
            (struct jitter_step){JITTER_RECOVER, slot->payload, slot->len, jitter->recover_ticks};
        jitter->recover_ticks = 0;
        return true;
    }
    release(jitter, slot, out);
    return true;
}

int64_t jitter_deadline_us(const struct jitter *jitter)
{
    if (!jitter->next_sequence)
        return INT64_MAX;
    const struct jitter_packet *slot = first_waiting(jitter);
    if (slot)
        return slot->sequence == jitter->next_sequence ? 0 : slot->at_us + wait_us(jitter);
    int64_t wait = MAX(wait_us(jitter), QUIET_WAIT_US);
    return MAX(jitter->quiet_from_us + wait, jitter->told_until_us + FRAME_US);
}
