/* A recognising session over a vendor's WebSocket: what is common to all of them. The caller's
 * sound goes out as it comes (16-bit samples alone at STT_RATE_HZ, or wrapped as the dialect says),
 * flush() becomes the vendor's own word for "tell what you hold back", and the answers are told as
 * partial and final words. What a vendor's messages mean is its dialect.
 *
 *   open -> [socket] -> start text, audio ... -> flush text -> listen_final(), listen_flushed()
 *
 * Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/loop.h"
#include "engine/stt.h"
#include "vendor/account.h"
#include "vendor/socket.h"

struct js;
struct resampler;
struct listen;

struct listen_dialect {
    const char *standard_url;
    const char *key_header, *key_prefix; /* where the key goes */
    const char *protocol;                /* Sec-WebSocket-Protocol, or NULL */
    /* Path and query after the account's URL, where the session's wishes stand. */
    void (*write_target)(const struct listen *listen, struct buf *out);
    /* The first message; NULL: none. */
    void (*write_start)(const struct listen *listen, struct buf *out);
    /* A piece of sound as a text message; NULL: it goes out as it is. */
    void (*write_audio)(struct listen *listen, const int16_t *samples, size_t count,
                        struct buf *out);
    const char *flush_text; /* NULL: the vendor has none, flush() waits flush_us for words */
    const char *quiet_text; /* keep-alive */
    int64_t quiet_us;
    const char *farewell;
    int64_t flush_us; /* for the answer to a flush */
    /* An unanswered flush: true: the vendor owes an answer always, so the session is broken; false:
     * it gives none when it holds nothing back. */
    bool is_flush_owed;
    const struct socket_code *codes;
    void (*read)(struct listen *listen, const struct js *message);
};

/* The state of an engine. */
struct listen_engine {
    struct account account;
    const struct listen_dialect *dialect;
    char *authorization;
    const char *model; /* the chosen one; lives as long as the registry */
};

struct listen {
    struct stt base;
    const struct engine *engine;
    const struct listen_engine *state;
    const struct listen_dialect *dialect;
    struct loop *loop;
    stt_event_fn *on_event;
    void *arg;
    struct vendor_socket *socket;
    char *language; /* ISO code */
    char **hints;   /* further ones, of those the engine knows */
    size_t hint_count;
    struct arena *arena; /* of the terms */
    const char **terms;  /* key terms (vendor/terms.h) */
    size_t term_count;
    bool detect_language;
    struct buf said;     /* final pieces that wait for more of them (dialect's business) */
    uint32_t flushes[8]; /* generations without an answer, oldest first */
    size_t flush_count;
    struct resampler *resampler; /* NULL: the dialect takes the sound as it is */
    struct timer overdue;
    bool is_closed, is_ended;
};

/* For an adapter's configure(): false: the section lacks what is needed. */
bool listen_configure(void *env, const struct config *config, const struct engine_info *info,
                      const struct listen_dialect *dialect, void **out_state);
void listen_unconfigure(void *state);

/* For the dialects. Texts may be NULL or empty: then nothing is told. */
void listen_partial(struct listen *listen, const char *text, bool is_stable);
void listen_final(struct listen *listen, const char *text);
void listen_flushed(struct listen *listen); /* the oldest flush is answered */
void listen_endpoint(struct listen *listen);
/* message: made free of secrets here. The session is of no more use. */
void listen_failed(struct listen *listen, enum engine_error error, const char *message);
