/* Data packets for a client that wait until its `_reliable` channel is open. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/list.h"

struct leg;

enum { BACKLOG_MAX_BYTES = 65536 };

struct backlog {
    struct list_node packets;
    size_t bytes;
};

void backlog_init(struct backlog *backlog);
void backlog_clear(struct backlog *backlog);
/* ERR_LIMIT: BACKLOG_MAX_BYTES wait already; it is dropped. */
enum err backlog_add(struct backlog *backlog, const uint8_t *packet, size_t len) MUST_USE;
/* Sends all, in order; what the channel refuses is dropped. False: it is not open yet, and they go
 * on waiting. */
bool backlog_flush(struct backlog *backlog, struct leg *leg);
