/* Who is in the room of a call: the caller comes, is lost, comes back, leaves. One caller at a time
 * (the room sees to it). Times are the loop's. Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct presence {
    char *identity; /* of the caller who is or was there; NULL: nobody yet */
    bool is_here;
    int64_t joined_us; /* for the first time; 0: not yet */
    int64_t lost_us;   /* since when the caller is lost; 0: is not */
    int64_t last_packet_us;
};

void presence_clear(struct presence *presence);
/* True: the first caller of this call. */
bool presence_join(struct presence *presence, const char *identity, int64_t now_us);
/* False: whoever it was had not been there. */
bool presence_leave(struct presence *presence);
/* After presence_leave(): without a goodbye, so that they may come back. */
void presence_lose(struct presence *presence, int64_t last_packet_us, int64_t now_us);
/* Up to when the caller is to be billed if the call ended now: who is lost, up to the last packet.
 */
int64_t presence_used_to_us(const struct presence *presence, int64_t now_us);
/* How long the caller was there, up to a moment. */
int64_t presence_billed_ms(const struct presence *presence, int64_t to_us);
