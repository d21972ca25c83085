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
};
extern const struct abuse_kind abuse_kinds[];
extern const size_t abuse_kind_count;

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
