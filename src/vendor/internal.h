/* What the adapters' files share. */
#pragma once

#include <stdbool.h>

#include "base/list.h"
#include "vendor/vendor.h"

struct buf;
struct dialer;
struct lane;
struct lane_limits;
struct map;
struct voice_pool;

struct vendor_loop {
    struct loop *loop;
    struct http_client *http;
    struct dialer *dialer; /* NULL, as http: no network engines on this loop */
    struct voice_pool *voices;
    struct map *lanes;       /* engine id -> struct lane */
    struct list_node trunks; /* shared connections with free seats (vendor/trunk.h) */
};

/* What belongs to the loop; NULL: it was never added. Thread: the loop's. */
struct vendor_loop *vendor_loop_of(struct vendor *vendor, const struct loop *loop);
/* The lane of this loop to an engine; limits: of the node. Thread: the loop's. */
struct lane *vendor_lane(const struct vendor *vendor, struct vendor_loop *here, const char *engine,
                         const struct lane_limits *limits);

/* A loop's part of what the node may have. */
size_t vendor_share(const struct vendor *vendor, size_t all);

/* Writes asterisks over a secret wherever the text holds it, for logs. secret: NULL, or of less
 * than four characters, is none. */
void vendor_mask(struct buf *text, const char *secret);

extern const struct stt_ops listen_ops, openai_stt_ops, pocketsphinx_ops, standin_stt_ops,
    wyoming_stt_ops;
extern const struct tts_ops espeak_ops, flite_ops, openai_tts_ops, standin_tts_ops, utter_ops,
    wyoming_tts_ops;
extern const struct embed_ops openai_embed_ops;
extern const struct llm_ops chat_ops, extractive_ops, standin_llm_ops;

/* One for each engine of the vendor (struct engine_adapter). */
typedef bool configure_fn(void *env, const struct config *config, const struct engine_info *info,
                          void **out_state);
configure_fn anthropic_configure, cartesia_configure, deepgram_configure, elevenlabs_configure,
    flux_configure, openai_configure, openai_embed_configure, openai_live_configure,
    openai_stt_configure, openai_tts_configure, soniox_configure, standin_configure,
    voice_configure;
void openai_embed_unconfigure(void *state);
void openai_stt_unconfigure(void *state);
void openai_tts_unconfigure(void *state);
void standin_unconfigure(void *state);
