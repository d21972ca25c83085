#include "call/presence.h"

#include "base/attr.h"
#include "base/mem.h"

void presence_clear(struct presence *presence)
{
    mem_free(presence->identity);
    *presence = (struct presence){0};
}

bool presence_join(struct presence *presence, const char *identity, int64_t now_us)
{
    bool is_first = presence->joined_us == 0;
    mem_free(presence->identity);
    presence->identity = mem_strdup(identity);
    presence->is_here = true;
    presence->lost_us = 0;
    if (is_first)
        presence->joined_us = now_us;
    return is_first;
}

bool presence_leave(struct presence *presence)
{
    bool was_here = presence->is_here;
    presence->is_here = false;
    return was_here;
}

void presence_lose(struct presence *presence, int64_t last_packet_us, int64_t now_us)
{
    presence->lost_us = now_us;
    presence->last_packet_us = last_packet_us;
}

int64_t presence_used_to_us(const struct presence *presence, int64_t now_us)
{
    return presence->lost_us ? presence->last_packet_us : now_us;
}

int64_t presence_billed_ms(const struct presence *presence, int64_t to_us)
{
    return presence->joined_us ? MAX(to_us - presence->joined_us, (int64_t)0) / 1000 : 0;
}
