/* The packets of abuse.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct abuse_kind {
    const char *name, *what;
    void *(*begin)(void);
    void (*prepare)(void *state); /* the next packet; not counted */
    void (*give)(void *state);
    void (*end)(void *state);
    bool is_ordinary; /* what those behind it are compared with */
    bool is_once;     /* a peer may do it once; not compared */
};
extern const struct abuse_kind abuse_kinds[], abuse_room_kinds[]; /* room: abuse_room.c */
extern const size_t abuse_kind_count, abuse_room_kind_count;

/* abuse_sctp.c */
void *sctp_begin(void);
void sctp_prepare_text(void *state);
void sctp_prepare_forward(void *state);
void sctp_prepare_forwards(void *state);
void sctp_prepare_endless(void *state);
void sctp_prepare_reversed(void *state);
void sctp_prepare_sack(void *state);
void sctp_prepare_sacks(void *state);
void sctp_prepare_cookies(void *state);
void sctp_prepare_resets(void *state);
void sctp_give(void *state);
void sctp_end(void *state);

/* abuse_peer.c */
void *peer_begin(void);
void peer_prepare_check(void *state);
void peer_prepare_long_check(void *state);
void peer_prepare_forged_check(void *state);
void peer_prepare_hello(void *state);
void peer_prepare_records(void *state);
void peer_give(void *state);
void media_prepare_audio(void *state);
void media_prepare_source(void *state);
void media_prepare_forged(void *state);
void media_give(void *state);
void media_prepare_nacks(void *state);
void media_prepare_empties(void *state);
void media_give_report(void *state);
void peer_end(void *state);
