#include "room/media.h"

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "room/join.h"

struct parcel {
    struct room_media *media;
    struct room_join *join;
};

struct room_media *room_media_new(const struct room_media_config *config)
{
    struct room_media *media = mem_new(struct room_media);
    media->config = *config;
    media->rooms = map_new();
    return media;
}

void room_media_free(struct room_media *media)
{
    if (!media)
        return;
    map_free(media->rooms);
    mem_free(media);
}

struct loop *room_media_loop(const struct room_media *media)
{
    return media->config.loop;
}

static void run_join(void *arg)
{
    struct parcel *parcel = arg;
    struct room_join *join = parcel->join;
    struct room_media *media = parcel->media;
    struct room_host *host = map_get_str(media->rooms, join->token.claims.room);
    mem_free(parcel);
    if (host)
        room_host_join(host, join);
    else
        room_join_refuse(join, media->config.loop, 403, "the room is over");
}

void room_media_join(struct room_media *media, struct room_join *take_join)
{
    struct parcel *parcel = mem_new(struct parcel);
    *parcel = (struct parcel){media, take_join};
    loop_post(media->config.loop, run_join, parcel);
}
