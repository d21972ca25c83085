#include "call/call_loop.h"

#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/place.h"
#include "call/internal.h"
#include "call/otlp.h"

enum {
    PLACE_LEAVE_MILLI = 920, /* of a core */
    PLACE_ASK_MILLI = 700,
};

static void look(void *arg);

static struct otlp *open_otlp(const struct calls_config *config, const struct calls_media *media)
{
    const char *endpoint = config_text(config->config, SET_OTEL_ENDPOINT);
    return *endpoint && media->http
               ? otlp_new(media->loop, media->http, endpoint, config->public_url)
               : NULL;
}

static enum codec_profile profile_of(const struct config *config)
{
    const char *name = config_text(config, SET_AUDIO_PROFILE);
    return strcmp(name, "celt") == 0 ? CODEC_CELT : CODEC_VOIP;
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
    home->best = home->first = profile_of(config->config);
    list_init(&home->all);
    money_init(&home->money, config->store, media->loop);
    home->pacer = pacer_open(media->loop);
    home->otlp = open_otlp(config, media);
    timer_init(&home->look, media->loop, look, home);
    if (config->machine)
        load_init(&home->load, config->machine->cores_milli / (int64_t)config->media_count,
                  config->machine->frame_ns, home->best);
    return home;
}

void call_loop_free(struct call_loop *home)
{
    timer_stop(&home->look);
    pacer_close(home->pacer);
    otlp_free(home->otlp);
    money_clear(&home->money);
    line_cache_free(home->lines);
    map_free(home->by_id);
    mem_free(home);
}

struct live_call *call_loop_find(const struct call_loop *home, const char *call_id)
{
    return map_get_str(home->by_id, call_id);
}

void call_loop_give_up(struct call_loop *home)
{
    home->has_given_up = true;
    struct live_call *call;
    LIST_EACH (call, &home->all, struct live_call, node)
        live_call_give_up(call);
}

/* How full it is. */

static bool counts(const struct live_call *call)
{
    return call->status != CALL_ENDED;
}

static void see_calls(const struct call_loop *home, struct load_sight *sight)
{
    struct live_call *call;
    LIST_EACH (call, &home->all, struct live_call, node) {
        if (!counts(call))
            continue;
        if (call->media.spoken.is_relaying)
            sight->relaying++;
        else
            sight->calls[call->media.spoken.encoding]++;
        sight->young += call->begun_us > sight->now_us - LOAD_YOUNG_US;
    }
}

/* What the rest of the machine takes of this loop's part, without what the loop itself has had. */
static int64_t others_pm(const struct call_loop *home, const struct load_sight *sight)
{
    const struct calls_machine *machine = home->config->machine;
    int64_t busy_milli = machine->busy_milli(machine->arg) / (int64_t)home->config->media_count;
    int64_t own_milli = sight->own_us * 1000 / MAX(sight->span_us, 1);
    return MAX(busy_milli - own_milli, 0) * 1000 / home->load.capacity_pm;
}

/* The profile to be changed: each call is lowered once before any is lowered twice. */
static enum codec_profile costliest(const struct load_sight *sight)
{
    for (int i = 0; i < CODEC_PROFILES; i++)
        if (sight->calls[i])
            return (enum codec_profile)i;
    return CODEC_PROFILES - 1;
}

static enum codec_profile cheapest(const struct call_loop *home, const struct load_sight *sight)
{
    for (int i = CODEC_PROFILES - 1; i > (int)home->best; i--)
        if (sight->calls[i])
            return (enum codec_profile)i;
    return home->best;
}

/* Those that began last first. */
static void lower(struct call_loop *home, const struct load_sight *sight)
{
    enum codec_profile from = costliest(sight);
    unsigned left = load_step_calls((unsigned)home->count);
    for (struct list_node *at = home->all.prev; at != &home->all && left > 0; at = at->prev) {
        struct live_call *call = CONTAINER_OF(at, struct live_call, node);
        if (!counts(call) || call->media.spoken.is_relaying || call->media.spoken.encoding != from)
            continue;
        media_encode_as(&call->media, from + 1);
        left--;
    }
    home->first = MAX(home->first, from + 1);
}

/* Those that began first first. */
static void raise_some(struct call_loop *home, const struct load_sight *sight)
{
    enum codec_profile from = cheapest(home, sight), to = from > home->best ? from - 1 : from;
    unsigned left = load_step_calls((unsigned)home->count);
    struct live_call *call;
    LIST_EACH (call, &home->all, struct live_call, node) {
        if (left == 0)
            break;
        if (!counts(call) || call->media.spoken.encoding != from)
            continue;
        media_encode_as(&call->media, to);
        left--;
    }
    home->first = to;
}

static void tell(struct call_loop *home, const struct load_sight *sight)
{
    unsigned lowered = 0;
    for (int i = (int)home->best + 1; i < CODEC_PROFILES; i++)
        lowered += sight->calls[i];
    metric_add(METRIC_CALLS_LOWERED, (int64_t)lowered - (int64_t)home->lowered);
    metric_set_label(METRIC_LOOP_SHARE, loop_name(home->media.loop), home->load.share_pm);
    home->lowered = lowered;
}

/* A loop that takes nearly all of a core stands in the way of the others: of the control loop, of
 * those who stop the service. It waits its turn until that is over. */
static void mind_place(struct call_loop *home, const struct load_sight *sight)
{
    int64_t own_milli = sight->own_us * 1000 / MAX(sight->span_us, 1);
    bool leaves = own_milli > PLACE_LEAVE_MILLI && !home->has_left_place;
    bool asks = own_milli < PLACE_ASK_MILLI && home->has_left_place;
    if (!home->config->machine->wants_place || !(leaves || asks))
        return;
    home->has_left_place = leaves;
    if (leaves)
        place_leave();
    else
        (void)place_ask();
}

static void look(void *arg)
{
    struct call_loop *home = arg;
    int64_t now_us = loop_now_us(home->media.loop), cpu_us = clock_cpu_us();
    struct pacer_lateness lateness;
    pacer_take_lateness(home->pacer, &lateness);
    struct load_sight sight = {.now_us = now_us,
                               .span_us = now_us - home->looked_us,
                               .own_us = cpu_us - home->looked_cpu_us,
                               .slots = lateness.slots,
                               .late = lateness.late};
    see_calls(home, &sight);
    sight.others_pm = others_pm(home, &sight);
    enum load_step step = load_look(&home->load, &sight);
    if (step == LOAD_LOWER_SOME)
        lower(home, &sight);
    else if (step == LOAD_RAISE_SOME)
        raise_some(home, &sight);
    mind_place(home, &sight);
    tell(home, &sight);
    home->looked_us = now_us;
    home->looked_cpu_us = cpu_us;
    timer_set_after(&home->look, LOAD_LOOK_US);
}

void call_loop_start(struct call_loop *home)
{
    const struct calls_machine *machine = home->config->machine;
    if (!machine)
        return;
    if (machine->wants_place)
        log_info("calls.place", LOG_S("loop", loop_name(home->media.loop)),
                 LOG_S("place", place_name(place_ask())));
    home->looked_us = loop_now_us(home->media.loop);
    home->looked_cpu_us = clock_cpu_us();
    timer_set_after(&home->look, LOAD_LOOK_US);
}

bool call_loop_take(struct call_loop *home)
{
    return !home->config->machine || load_take(&home->load);
}

int call_loop_room(const struct call_loop *home)
{
    if (!home->config->machine)
        return LOAD_ROOM_MAX;
    return MAX(atomic_load(&((struct call_loop *)home)->load.room), 0);
}

bool call_loop_is_full(const struct call_loop *home)
{
    return call_loop_room(home) == 0;
}
