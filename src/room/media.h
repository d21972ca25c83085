/* What the files of one media loop's rooms share (media.c, host.c, participant.c). */
#pragma once

#include "room/host.h"

struct map;
struct room_host;

struct room_media {
    struct room_media_config config;
    struct map *rooms; /* name to struct room_host */
};

/* host.c */
void room_host_join(struct room_host *host, struct room_join *take_join);
