#include "vendor/trunk.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "vendor/account.h"
#include "vendor/internal.h"

enum {
    DEPTH_MAX = 16,
    PING_MS = 1900,               /* a shared one that is dead is found out within 4 s */
    LIVED_US = 10 * 1000 * 1000,  /* one that broke sooner is not opened anew unasked */
    MUTE_US = 700 * 1000,         /* a caller's patience with a voice is 0.8 s at least */
    LINGER_US = 10 * 1000 * 1000, /* what was given up may be worked on for so long */
    GIVEN_UP_MAX = 16,
};

struct trunk {
    struct list_node node; /* among those of the loop that take further seats */
    const struct trunk_kind *kind;
    struct loop *loop;
    struct vendor_socket *socket;
    char *url, *workspace;
    const char *farewell; /* at the service's end, when its kind is gone */
    struct socket_plan plan;
    struct list_node seats;
    size_t seat_count;
    int64_t opened_us, heard_us;
    int64_t given_up_us[GIVEN_UP_MAX]; /* the newest, in turn */
    unsigned given_up, round;
    struct timer idle;
    bool is_retired, is_closed;
};

/* Its end. */

static void free_trunk(void *arg)
{
    struct trunk *trunk = arg;
    mem_free(trunk->url);
    mem_free(trunk->workspace);
    mem_free(trunk);
}

/* Its memory stays until the end of the turn. */
static void close_trunk(struct trunk *trunk, const char *farewell)
{
    if (trunk->is_closed)
        return;
    trunk->is_closed = trunk->is_retired = true;
    list_remove(&trunk->node);
    timer_stop(&trunk->idle);
    vendor_socket_close(TAKE(trunk->socket), farewell);
    loop_defer(trunk->loop, free_trunk, trunk);
}

static void on_idle(void *arg)
{
    struct trunk *trunk = arg;
    close_trunk(trunk, trunk->farewell);
}

static void stand_up(struct trunk_seat *seat)
{
    struct trunk *trunk = TAKE(seat->trunk);
    list_remove(&seat->node);
    trunk->seat_count--;
    *seat->context = '\0';
}

static void lose(struct trunk *trunk, enum engine_error error, const char *message)
{
    bool has_lived = loop_now_us(trunk->loop) - trunk->opened_us >= LIVED_US;
    close_trunk(trunk, NULL);
    while (!list_is_empty(&trunk->seats)) {
        struct trunk_seat *seat = LIST_FIRST(&trunk->seats, struct trunk_seat, node);
        stand_up(seat);
        trunk->kind->on_ended(seat->owner, error, message, has_lived);
    }
}

static void on_ended(void *arg, enum engine_error error, const char *message)
{
    lose(arg, error, message);
}

/* What comes. */

static struct trunk_seat *seat_of(const struct trunk *trunk, const char *context)
{
    struct trunk_seat *seat;
    LIST_EACH (seat, &trunk->seats, struct trunk_seat, node)
        if (*seat->context && strcmp(seat->context, context) == 0)
            return seat;
    return NULL;
}

static struct trunk_seat *next_waiting(const struct trunk *trunk)
{
    struct trunk_seat *seat;
    LIST_EACH (seat, &trunk->seats, struct trunk_seat, node)
        if (*seat->context && seat->round != trunk->round &&
            (!seat->has_answer || trunk->kind->seats_max == 1))
            return seat;
    return NULL;
}

/* Whoever is told may leave, or make others come and go. */
static void tell_waiting(struct trunk *trunk, const struct js *message)
{
    struct trunk_seat *seat;
    trunk->round++;
    while ((seat = next_waiting(trunk))) {
        seat->round = trunk->round;
        trunk->kind->on_message(seat->owner, message);
    }
}

static void on_message(void *arg, bool is_text, const char *data, size_t len)
{
    struct trunk *trunk = arg;
    AUTO(js) tree = NULL;
    trunk->heard_us = loop_now_us(trunk->loop);
    if (!is_text || js_parse(data, len, DEPTH_MAX, &tree, NULL) != OK) {
        lose(trunk, ENGINE_PROTOCOL, "its message is no JSON");
        return;
    }
    const char *context = trunk->kind->context_of(tree);
    if (!context) {
        tell_waiting(trunk, tree);
        return;
    }
    struct trunk_seat *seat = seat_of(trunk, context);
    if (!seat)
        return;
    seat->has_answer = true;
    trunk->kind->on_message(seat->owner, tree);
}

/* Seats. */

static struct trunk *open_trunk(const struct trunk_kind *kind, struct loop *loop,
                                const struct socket_plan *plan)
{
    static const struct socket_fns fns = {.on_message = on_message, .on_ended = on_ended};
    struct vendor_loop *here = vendor_loop_of(kind->account->vendor, loop);
    struct trunk *trunk = mem_new(struct trunk);
    trunk->kind = kind;
    trunk->farewell = kind->farewell;
    trunk->loop = loop;
    trunk->plan = *plan;
    trunk->plan.url = trunk->url = mem_strdup(plan->url);
    trunk->plan.workspace = trunk->workspace = mem_strdup(plan->workspace);
    trunk->opened_us = loop_now_us(loop);
    list_init(&trunk->seats);
    timer_init(&trunk->idle, loop, on_idle, trunk);
    if (kind->seats_max > 1) {
        trunk->plan.ping_ms = PING_MS;
        trunk->plan.is_shared = true;
    }
    trunk->socket = vendor_socket_open(kind->account, loop, &trunk->plan, &fns, trunk);
    if (kind->seats_max > 1 && here)
        list_push_back(&here->trunks, &trunk->node);
    return trunk;
}

/* The first with a free seat, so that others may become empty; as many connections as the engine
 * may have requests under way, then the emptiest. NULL: a new one. */
static struct trunk *find(struct vendor_loop *here, const struct trunk_kind *kind, const char *url)
{
    struct trunk *trunk, *emptiest = NULL;
    size_t count = 0;
    if (!here || kind->seats_max == 1)
        return NULL;
    LIST_EACH (trunk, &here->trunks, struct trunk, node) {
        if (trunk->kind != kind || strcmp(trunk->url, url) != 0)
            continue;
        if (trunk->seat_count < kind->seats_max)
            return trunk;
        if (!emptiest || trunk->seat_count < emptiest->seat_count)
            emptiest = trunk;
        count++;
    }
    size_t most = vendor_share(kind->account->vendor, kind->account->limits.all);
    return count >= most ? emptiest : NULL;
}

void trunk_enter(struct trunk_seat *seat, const struct trunk_kind *kind, struct loop *loop,
                 const struct socket_plan *plan)
{
    struct trunk *trunk = find(vendor_loop_of(kind->account->vendor, loop), kind, plan->url);
    if (!trunk)
        trunk = open_trunk(kind, loop, plan);
    timer_stop(&trunk->idle);
    seat->trunk = trunk;
    seat->round = trunk->round; /* what is being told is not for who comes now */
    trunk->seat_count++;
    list_push_back(&trunk->seats, &seat->node);
}

/* From one that is retired. */
static void move(struct trunk_seat *seat)
{
    struct trunk *old = seat->trunk;
    stand_up(seat);
    trunk_enter(seat, old->kind, old->loop, &old->plan);
    if (old->seat_count == 0)
        close_trunk(old, old->farewell);
}

static void retire(struct trunk *trunk)
{
    struct trunk_seat *seat;
    trunk->is_retired = true;
    list_remove(&trunk->node);
    LIST_EACH (seat, &trunk->seats, struct trunk_seat, node)
        if (!*seat->context)
            move(seat);
}

/* Sentences. */

const char *trunk_begin(struct trunk_seat *seat)
{
    if (seat->trunk->is_retired)
        move(seat);
    snprintf(seat->context, sizeof(seat->context), "%016llx%016llx",
             (unsigned long long)crypto_random_u64(), (unsigned long long)crypto_random_u64());
    seat->begun_us = loop_now_us(seat->trunk->loop);
    seat->has_answer = false;
    return seat->context;
}

/* Nothing at all has come since, and others are about to say theirs over it. */
static bool is_mute(const struct trunk_seat *seat)
{
    const struct trunk *trunk = seat->trunk;
    return trunk->kind->seats_max > 1 && *seat->context && !seat->has_answer &&
           trunk->heard_us < seat->begun_us && loop_now_us(trunk->loop) - seat->begun_us >= MUTE_US;
}

/* Another sentence might be one too many. */
static bool is_busy(struct trunk *trunk)
{
    size_t most = MIN(trunk->kind->contexts_max, (size_t)GIVEN_UP_MAX + 1);
    int64_t now_us = loop_now_us(trunk->loop);
    trunk->given_up_us[trunk->given_up++ % GIVEN_UP_MAX] = now_us;
    if (most == 0 || trunk->given_up + 1 < most)
        return false;
    size_t oldest = trunk->given_up - (most - 1);
    return now_us - trunk->given_up_us[oldest % GIVEN_UP_MAX] < LINGER_US;
}

void trunk_end(struct trunk_seat *seat, bool is_given_up)
{
    struct trunk *trunk = seat->trunk;
    if (!trunk || !*seat->context)
        return;
    bool is_mute_now = is_given_up && is_mute(seat);
    bool is_busy_now = is_given_up && is_busy(trunk);
    *seat->context = '\0';
    if ((is_mute_now || is_busy_now) && !trunk->is_retired)
        retire(trunk);
}

void trunk_leave(struct trunk_seat *seat)
{
    struct trunk *trunk = seat->trunk;
    if (!trunk)
        return;
    bool is_mute_now = is_mute(seat);
    stand_up(seat);
    if (is_mute_now && !trunk->is_retired)
        retire(trunk);
    if (trunk->seat_count > 0)
        return;
    if (trunk->is_retired || trunk->kind->seats_max == 1)
        close_trunk(trunk, trunk->farewell);
    else
        timer_set_after(&trunk->idle, trunk->kind->idle_us);
}

void trunk_send(struct trunk_seat *seat, const char *text)
{
    if (seat->trunk && seat->trunk->socket) /* closed: others are being told of its end */
        vendor_socket_text(seat->trunk->socket, text);
}

void trunks_close(struct vendor_loop *here)
{
    while (!list_is_empty(&here->trunks))
        on_idle(LIST_FIRST(&here->trunks, struct trunk, node));
}
