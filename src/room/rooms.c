#include "room/rooms.h"

#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "room/join.h"
#include "room/rooms_internal.h"

struct parcel {
    struct rooms *rooms;
    struct room_join *join;
};

struct rooms *rooms_new(const struct rooms_config *config)
{
    struct rooms *rooms = mem_new(struct rooms);
    rooms->config = *config;
    rooms->hosts = map_new();
    return rooms;
}

void rooms_free(struct rooms *rooms)
{
    if (!rooms)
        return;
    map_free(rooms->hosts);
    mem_free(rooms);
}

static void run_join(void *arg)
{
    struct parcel *parcel = arg;
    struct room_join *join = parcel->join;
    struct rooms *rooms = parcel->rooms;
    struct room_host *host = map_get_str(rooms->hosts, join->token.claims.room);
    mem_free(parcel);
    if (host)
        room_host_join(host, join);
    else
        room_join_refuse(join, rooms->config.loop, 403, "the room is over");
}

void rooms_join(struct rooms *rooms, struct room_join *take_join)
{
    struct parcel *parcel = mem_new(struct parcel);
    *parcel = (struct parcel){rooms, take_join};
    loop_post(rooms->config.loop, run_join, parcel);
}
