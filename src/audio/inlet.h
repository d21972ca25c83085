/* The caller's way in: payloads as they come, 20 ms frames of 16 kHz as they are due. Joins
 * jitter.h and codec.h and cuts packets of 10, 20, 40 or 60 ms into frames. About 35 kB.
 * Sans-I/O. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/frame.h"
#include "audio/jitter.h"
#include "base/attr.h"

struct inlet;

struct inlet *inlet_new(void);
void inlet_free(struct inlet *inlet);
DEFINE_AUTO(inlet)

/* A payload as it came from the room (room_events.on_opus), malformed ones too: those are counted.
 * So is sound that comes faster than anybody speaks (beyond ten seconds of it): it is refused, or
 * one caller would keep decoder and recogniser busy for many. */
void inlet_input(struct inlet *inlet, const uint8_t *payload, size_t len, uint16_t sequence,
                 uint32_t timestamp, int64_t now_us);
/* Call until false: after each input, and each 20 ms. */
bool inlet_output(struct inlet *inlet, int64_t now_us, struct audio_frame *out);
void inlet_stats(const struct inlet *inlet, struct jitter_stats *out);
