/* The conversation of one call, as a machine without socket, clock or thread (style 25, 30): what
 * happens goes in with its time, what is to be done comes out as actions, and talk_deadline_us()
 * says when to come back. Audio never passes through it: it counts samples, and so knows to the
 * sample what the caller has heard.
 *
 *     caller's voice, words --> endpoint --> turn --> reply (look-up, model, tools)
 *     frames played <------- speech queue <-- sentences <--'
 *
 * What the caller says is hear.h, when they have finished endpoint.h, who has the floor turn.h,
 * what is answered reply.h and mind.h, what the model reads prompt.h, what is said and was heard
 * voice.h and speech.h.
 * Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "model/reply_times.h"
#include "model/timing.h"

struct llm_event;
struct llm_passage;
struct llm_request;
struct llm_tool;
struct stt_event;
struct talk;
struct tts_event;

enum talk_greeting { TALK_GREETING_NONE, TALK_GREETING_STATIC, TALK_GREETING_GENERATE };
enum talk_role { TALK_CALLER, TALK_AGENT };
enum talk_engine { TALK_STT, TALK_LLM, TALK_TTS };

/* Where a part of the call failed (event call.error, `stage`). */
enum talk_stage {
    TALK_STAGE_STT,
    TALK_STAGE_LLM,
    TALK_STAGE_TTS,
    TALK_STAGE_GREETING,
    TALK_STAGE_SPEECH
};
const char *talk_stage_name(enum talk_stage stage);

enum { TALK_SAY_MAX_WAITING = 16 }; /* lines of Speak into a call that may wait */

/* Frozen for the call; all texts are borrowed until talk_free(). */
struct talk_config {
    const char *iso;    /* its ISO code */
    const char *system; /* the whole system instruction (prompt.h writes it) */
    enum talk_greeting greeting;
    const char *greeting_text;        /* static: variables filled */
    const char *greeting_instruction; /* generate: variables filled */
    const struct llm_tool *tools;     /* the agent's during_call tools */
    size_t tool_count;
    bool has_end_call, has_change_language;
    bool has_documents; /* look-ups are asked for */
    bool is_interruptible;
    double temperature;
    int max_tokens;
    int64_t endpoint_min_us;   /* config.turn.minEndpointingDelayMs */
    int64_t silence_us;        /* config.vad.minSilenceMs: a shorter pause is no end */
    bool is_quick;             /* a turn whose words are plainly whole may end sooner than these */
    int64_t caller_silence_us; /* remind a silent caller after this; 0: never */
    int64_t caller_silence_count; /* reminders before the call ends; 0: it does not end */
};

struct talk *talk_new(const struct talk_config *config);
void talk_free(struct talk *talk);
DEFINE_AUTO(talk)

/* What happens. */

/* The engines are open and the agent is in the room: the greeting is prepared. It is played when
 * the caller has joined. */
void talk_begin(struct talk *talk, int64_t now_us);
void talk_joined(struct talk *talk, int64_t now_us); /* also after a return */
void talk_left(struct talk *talk, int64_t now_us);   /* the agent falls silent, and listens */
/* Voice activity. Stopped: a short pause (some 200 ms); last_voice_us is the end of the sound. */
void talk_voice_started(struct talk *talk, int64_t now_us);
void talk_voice_stopped(struct talk *talk, int64_t last_voice_us, int64_t now_us);
void talk_heard(struct talk *talk, const struct stt_event *event, int64_t now_us);
/* Typed by the caller: cut at 2,000 characters, 5 at once and then one a second; the others are
 * dropped and counted. Those that come while a reply is being made become one turn. */
void talk_chat(struct talk *talk, const char *text, int64_t now_us);
void talk_found(struct talk *talk, uint32_t gen, const struct llm_passage *passages, size_t count,
                int64_t now_us);
void talk_model(struct talk *talk, const struct llm_event *event, int64_t now_us);
/* result: what the model is shown; is_ok false: the run failed (result may say why). */
void talk_tool_done(struct talk *talk, uint32_t id, bool is_ok, const char *result, int64_t now_us);
/* True: the samples belong to what is to be said, in order; keep them to be played. False: drop. */
bool talk_voice(struct talk *talk, const struct tts_event *event, int64_t now_us) MUST_USE;
void talk_played(struct talk *talk, size_t samples, int64_t now_us); /* of kept samples, 48 kHz */
/* ERR_CONFLICT: the conversation is over. ERR_LIMIT: TALK_SAY_MAX_WAITING lines are waiting. */
enum err talk_say(struct talk *talk, const char *text, int64_t now_us) MUST_USE;
/* The call is over: what was played of an open turn and what the caller was heard to say is told
 * (TALK_DO_TURN), then nothing more. */
void talk_end(struct talk *talk, int64_t now_us);
/* An engine was opened, before talk_begin() and as TALK_DO_REOPEN asks; has_more: there is (yet)
 * another to fall back on. */
void talk_engine_opened(struct talk *talk, enum talk_engine engine, bool has_more, int64_t now_us);
/* What the model that is open now can hold, in tokens: what was said first is left out of requests
 * that would be longer. 0: not known. */
void talk_set_window(struct talk *talk, int64_t tokens);
/* The turn of the caller that is open, or the next one: sound that was given to a recogniser in
 * another has had its time. */
uint32_t talk_turn(const struct talk *talk);
bool talk_is_hearing(const struct talk *talk); /* the caller has begun a turn */
/* After talk_engine_opened(TALK_STT): it was given the sound of the open turn; is_whole: all of it,
 * and the words that were told of the turn are told anew. */
void talk_hears_again(struct talk *talk, bool is_whole, int64_t now_us);
void talk_time(struct talk *talk, int64_t now_us); /* what is due */
int64_t talk_deadline_us(const struct talk *talk); /* INT64_MAX: nothing */

/* What is to be done. */

enum talk_do {
    TALK_DO_FLUSH,      /* stt flush(gen) */
    TALK_DO_LOOK_UP,    /* search the documents for text, answer talk_found(gen) */
    TALK_DO_ASK,        /* llm start(gen, request) */
    TALK_DO_UNASK,      /* llm cancel */
    TALK_DO_SPEAK,      /* tts speak(gen, text, is_last) */
    TALK_DO_UNSPEAK,    /* tts cancel, and drop all samples that were kept */
    TALK_DO_PAUSE,      /* play nothing, keep the samples */
    TALK_DO_PLAY,       /* go on at the same sample */
    TALK_DO_RUN_TOOL,   /* run tool `name` with `text` (JSON) as arguments, talk_tool_done(gen) */
    TALK_DO_REOPEN,     /* close `engine`, open its next fallback (is_fallback) or itself again */
    TALK_DO_LANGUAGE,   /* go on in the language `text` (catalog id): engines and voice */
    TALK_DO_STATE,      /* lk.agent.state = text */
    TALK_DO_TRANSCRIPT, /* a live line: role, segment, text, is_last */
    TALK_DO_TURN,       /* a finished turn: role, text, at_us */
    TALK_DO_ANSWERED,   /* a reply is heard, to a voice that ended at at_us: for the metrics */
    TALK_DO_ERROR,      /* call.error: stage, text (a sentence of ours), detail */
    TALK_DO_HANG_UP,    /* the conversation is over: end the call (api) */
};

/* Monotonic; 0: the turn did not pass there. */
struct talk_timing {
    int64_t from_us; /* the caller's voice ended, or what they typed came */
    int64_t at_us[POINT_COUNT];
};

/* Valid until the next call of any talk_ function. */
struct talk_action {
    enum talk_do what;
    uint32_t gen;
    const char *text, *name;
    const char *detail; /* ERROR: for the operator's log alone; may be NULL */
    bool is_last;       /* SPEAK: no more text of this reply; TRANSCRIPT: the segment's end */
    bool is_fixed;      /* SPEAK: words of the configuration or the service, said again and again */
    bool is_fallback;   /* REOPEN */
    enum talk_role role;
    enum talk_engine engine;
    enum talk_stage stage;
    uint32_t segment;                  /* TRANSCRIPT: number of the line */
    int64_t at_us;                     /* TURN: when it began */
    const struct talk_timing *timing;  /* TURN: of an answer of the agent; NULL: none */
    const struct llm_request *request; /* ASK */
};
bool talk_action(struct talk *talk, struct talk_action *out);

/* What it was like. */

enum { TALK_SLOWEST = 5 };
/* Times in ms; negative: not measured. */
struct talk_quality {
    int turns, interruptions, false_interruptions;
    int64_t voice_to_voice_p50_ms, voice_to_voice_p95_ms;
    int64_t endpointing_ms, llm_first_token_ms, tts_first_byte_ms; /* medians */
    struct {
        int64_t at_us, voice_to_voice_ms;
    } slowest[TALK_SLOWEST];
    int slowest_count;
    struct reply_times reply_times; /* of all replies */
};
void talk_quality(const struct talk *talk, struct talk_quality *out);
const char *talk_state_name(const struct talk *talk); /* of the floor, for `earshot show` */
