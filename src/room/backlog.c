#include "room/backlog.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "room/leg.h"

struct waiting_packet {
    struct list_node node;
    size_t len;
    uint8_t bytes[];
};

void backlog_init(struct backlog *backlog)
{
    list_init(&backlog->packets);
    backlog->bytes = 0;
}

static void drop(struct backlog *backlog, struct waiting_packet *packet)
{
    list_remove(&packet->node);
    backlog->bytes -= packet->len;
    mem_free(packet);
}

void backlog_clear(struct backlog *backlog)
{
    struct waiting_packet *packet;
    LIST_EACH (packet, &backlog->packets, struct waiting_packet, node) {
        drop(backlog, packet);
    }
}

enum err backlog_add(struct backlog *backlog, const uint8_t *packet, size_t len)
{
    if (backlog->bytes + len > BACKLOG_MAX_BYTES)
        return ERR_LIMIT;
    struct waiting_packet *waiting = mem_zalloc(sizeof(*waiting) + len);
    waiting->len = len;
    memcpy(waiting->bytes, packet, len);
    list_push_back(&backlog->packets, &waiting->node);
    backlog->bytes += len;
    return OK;
}

bool backlog_flush(struct backlog *backlog, struct leg *leg)
{
    struct waiting_packet *packet;
    LIST_EACH (packet, &backlog->packets, struct waiting_packet, node) {
        enum err err = leg_send(leg, packet->bytes, packet->len);
        if (err == ERR_CONFLICT)
            return false;
        if (err)
            log_debug("room.packet_dropped", LOG_I("bytes", packet->len));
        drop(backlog, packet);
    }
    return true;
}
