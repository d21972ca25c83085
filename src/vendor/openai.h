/* What the sessions of one OpenAI-compatible engine share: its settings, and what was learned of
 * its models. Thread: any, but for the lane, which is a loop's. */
#pragma once

#include <stddef.h>

#include "vendor/lane.h"

struct chat_lessons;
struct vendor;

enum { OPENAI_SECRETS = 3 };

struct openai {
    struct vendor *vendor;
    char *url;                     /* of the completions */
    char *authorization;           /* "Bearer ...", or NULL */
    char *secrets[OPENAI_SECRETS]; /* that a server may quote: key, user and query of the address */
    char *reasoning;
    struct chat_lessons *lessons; /* one for each model of the catalog */
    struct lane_limits limits;    /* of the node */
};
