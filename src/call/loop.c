#include "audio/pacer.h"
#include "base/map.h"
#include "base/mem.h"
#include "call/internal.h"
#include "rtc/port.h"

static void slot_done(void *arg)
{
    const struct call_loop *home = arg;
    if (home->media.port)
        port_flush(home->media.port);
}

struct call_loop *call_loop_new(struct calls *calls, const struct calls_config *config,
                                const struct calls_media *media)
{
    struct call_loop *home = mem_new(struct call_loop);
    home->calls = calls;
    home->config = config;
    home->media = *media;
    home->by_id = map_new();
    home->lines = line_cache_new(LINE_CACHE_MAX_BYTES);
    list_init(&home->all);
    money_init(&home->money, config->store, media->loop);
    home->pacer = pacer_open(media->loop, slot_done, home);
    return home;
}

void call_loop_free(struct call_loop *home)
{
    pacer_close(home->pacer);
    money_clear(&home->money);
    line_cache_free(home->lines);
    map_free(home->by_id);
    mem_free(home);
}

struct live_call *call_loop_find(const struct call_loop *home, const char *call_id)
{
    return map_get_str(home->by_id, call_id);
}
