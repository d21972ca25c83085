#include "call/limits.h"

#include "base/attr.h"
#include "call/presence.h"

/* When the call's own limits end it, money aside. */
static int64_t longest_us(const struct limits *limits, const struct presence *presence)
{
    int64_t us = limits->begun_us + LIMITS_MAX_US;
    if (limits->most_us > 0 && presence->joined_us)
        us = MIN(us, presence->joined_us + limits->most_us);
    return us;
}

static int64_t join_until_us(const struct limits *limits)
{
    return limits->join_until_us + LIMITS_JOIN_GRACE_US;
}

int64_t limits_due_us(const struct limits *limits, const struct presence *presence)
{
    int64_t due_us = longest_us(limits, presence);
    if (limits->is_journal_full)
        return limits->begun_us;
    if (!presence->joined_us)
        due_us = MIN(due_us, join_until_us(limits));
    else
        due_us = MIN(due_us, limits->confirming_us ? limits->confirming_us + LIMITS_CONFIRM_US
                                                   : limits->exhausted_us);
    if (presence->lost_us)
        due_us = MIN(due_us, presence->lost_us + LIMITS_LOST_US);
    return due_us;
}

/* Where the database does not answer, what was known holds. */
static enum limit look_at_money(struct limits *limits, int64_t now_us, int64_t *out_at_us)
{
    if (now_us < limits->exhausted_us)
        return LIMIT_NONE;
    if (!limits->confirming_us) {
        limits->confirming_us = now_us;
        return LIMIT_CONFIRM;
    }
    if (now_us < limits->confirming_us + LIMITS_CONFIRM_US)
        return LIMIT_NONE;
    *out_at_us = limits->exhausted_us;
    return LIMIT_MONEY;
}

enum limit limits_look(struct limits *limits, const struct presence *presence, int64_t now_us,
                       int64_t *out_at_us)
{
    if (limits->is_journal_full)
        return LIMIT_JOURNAL;
    if (!presence->joined_us && now_us >= join_until_us(limits))
        return LIMIT_NO_CALLER;
    if (now_us >= longest_us(limits, presence)) {
        *out_at_us = longest_us(limits, presence);
        return LIMIT_DURATION;
    }
    if (presence->lost_us && now_us >= presence->lost_us + LIMITS_LOST_US)
        return LIMIT_LOST;
    return presence->joined_us ? look_at_money(limits, now_us, out_at_us) : LIMIT_NONE;
}

void limits_told(struct limits *limits, int64_t exhausted_us)
{
    limits->confirming_us = 0;
    limits->exhausted_us = exhausted_us;
}

int64_t limits_billed_to_us(const struct limits *limits, const struct presence *presence,
                            int64_t now_us)
{
    int64_t us = presence_used_to_us(presence, now_us);
    return limits->confirming_us ? MIN(us, limits->exhausted_us) : us;
}
