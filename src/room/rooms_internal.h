/* What the files of one media loop's rooms share: rooms.c, host.c, participant.c. */
#pragma once

#include "room/rooms.h"

struct map;
struct room_host;

struct rooms {
    struct rooms_config config;
    struct map *hosts; /* name to struct room_host */
};

/* host.c */
void room_host_join(struct room_host *host, struct room_join *take_join);
