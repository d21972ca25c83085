/* The worker's end of the framed protocol (src/vendor/voice_wire.h): descriptor 0 both ways, on the
 * worker's one loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vendor/voice_wire.h"

struct link;
struct loop;

typedef void link_fn(void *arg, const struct voice_frame *frame);

struct link *link_open(struct loop *loop, int fd, link_fn *on_frame, void *arg);
void link_close(struct link *link);
/* Written at once as far as the other side takes it, else kept. */
void link_send(struct link *link, const struct voice_frame *frame);
bool link_is_slow(const struct link *link); /* much is kept: make no more for now */
bool link_is_sent(const struct link *link); /* nothing is kept: it outlives this process */
