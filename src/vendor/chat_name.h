/* Names of tools as chat servers take them: 1 to 64 letters, digits, `_` and `-`. A name that is no
 * such name gets one that is: its beginning, and eight digits of its hash. Thread: any. */
#pragma once

#include <stddef.h>

struct llm_request;

enum { CHAT_NAME_SIZE = 65 };

/* out, or name itself when it may be sent as it is. */
const char *chat_name(const char *name, char out[CHAT_NAME_SIZE]);
/* The name of the request's tool that was sent under this one; else what was given. */
const char *chat_name_back(const char *sent, const struct llm_request *request);
