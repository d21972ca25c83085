/* What a chat server does not take, learned from its answers 400 and 422. A lesson that the server
 * itself names holds for its model and every call, for ten minutes; what a call's own words may
 * have brought about (its tools, a text that was sent back in the error) holds for that call alone,
 * and teaches the others nothing: or one tenant could switch the tools of all others off.
 * Thread: any. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llm_request;

/* What to leave out or write in another way. Bits. */
enum chat_quirk {
    CHAT_NO_TEMPERATURE = 1,
    CHAT_NO_STREAM_OPTIONS = 2,
    CHAT_COMPLETION_CAP = 4, /* max_completion_tokens, for max_tokens */
    CHAT_NO_CAP = 8,
    CHAT_NO_REASONING = 16,
    CHAT_ONE_SYSTEM = 32, /* system messages all at the front, in one */
    CHAT_NO_TOOLS = 64,
    CHAT_NO_TOOL_CHOICE = 128, /* no tools at all, where none may be called */
};
enum { CHAT_QUIRKS = 8, CHAT_LESSON_US = 600 * 1000 * 1000 };

const char *chat_quirk_name(unsigned quirk); /* of one bit, for the log */

struct chat_lesson {
    unsigned quirk; /* 0: the refusal names nothing that could be left out */
    bool is_for_all;
};
/* body: of the refusal; request: what was refused; known: what was left out of it already. */
struct chat_lesson chat_lesson_read(const char *body, size_t len, const struct llm_request *request,
                                    unsigned known);

/* What is known of one model, read and set by sessions of all loops. */
struct chat_lessons {
    _Atomic int64_t until_us[CHAT_QUIRKS];
};
void chat_lessons_keep(struct chat_lessons *lessons, unsigned quirks, int64_t until_us);
unsigned chat_lessons_now(const struct chat_lessons *lessons, int64_t now_us);
