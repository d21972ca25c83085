/* Language models: messages in, text deltas and tool calls out. Thread: the call's loop. See
 * engine.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/engine.h"

struct llm;

enum llm_role { LLM_SYSTEM, LLM_USER, LLM_ASSISTANT, LLM_TOOL };

struct llm_tool_call {
    const char *id, *name, *arguments; /* arguments: JSON text */
    const char *extra;                 /* JSON that the vendor wants back verbatim, or NULL */
};

struct llm_message {
    enum llm_role role;
    const char *text;                  /* may be NULL with calls */
    const struct llm_tool_call *calls; /* LLM_ASSISTANT */
    size_t call_count;
    const char *tool_call_id; /* LLM_TOOL */
};

struct llm_tool {
    const char *name, *description;
    const char *parameters; /* JSON Schema of the arguments, text */
};

/* A passage of the agent's documents that fits what the caller said; also inside the messages for
 * models that generate. */
struct llm_passage {
    const char *question; /* of a card, else NULL */
    const char *text;
    const char *document;
    double similarity;
};

struct llm_request {
    const struct llm_message *messages;
    size_t message_count;
    size_t stable_count; /* the first ones, which further requests of the call begin with, too */
    const struct llm_tool *tools;
    size_t tool_count;
    bool is_without_calls; /* tools are named, so that requests begin alike; none may be called */
    const struct llm_passage *passages; /* for the extractive model */
    size_t passage_count;
    const char *unsure;   /* words of the caller that may be others; may be NULL */
    const char *language; /* ISO code of the call */
    double temperature;
    int max_tokens;
};

enum llm_event_kind { LLM_TEXT, LLM_TOOL_CALL, LLM_DONE, LLM_ERROR };

struct llm_event {
    enum llm_event_kind kind;
    uint32_t gen;
    const char *text; /* LLM_TEXT: a delta, UTF-8 whole */
    struct llm_tool_call call;
    bool is_cut; /* LLM_DONE: the token limit ended it */
    enum engine_error error;
    int64_t retry_us; /* LLM_ERROR: engine.h */
    const char *message;
};
typedef void llm_event_fn(void *arg, const struct llm_event *event);

struct llm_config {
    const char *model;     /* "" : the engine's default */
    const char *workspace; /* whose call it is: network engines are shared fairly */
    bool is_ahead;         /* it will be asked soon: connections are opened before, and anew */
};

struct llm_ops {
    /* config is borrowed for the call. */
    struct llm *(*open)(const struct engine *engine, const struct llm_config *config,
                        struct loop *loop, llm_event_fn *on_event, void *arg);
    /* The request is borrowed for the call, the texts of its tools until close(). One generation at
     * a time: start() cancels the one before. */
    void (*start)(struct llm *llm, uint32_t gen, const struct llm_request *request);
    void (*cancel)(struct llm *llm);
    void (*close)(struct llm *llm);
};

struct llm {
    const struct llm_ops *ops;
};
