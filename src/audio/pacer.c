/* One timer, set to the next slot that has a seat. A slot is known by its number since the pacer
 * was opened; number % PACER_SLOTS is its place in the frame. */
#include "audio/pacer.h"

#include "base/clock.h"
#include "base/mem.h"

enum { BEHIND_MAX_US = 200000 /* a loop that stood still for longer does not catch up */ };

struct pacer {
    struct loop *loop;
    struct timer timer;
    int64_t origin_us;
    int64_t next; /* number of the next slot to run */
    struct list_node slots[PACER_SLOTS];
    int loads[PACER_SLOTS]; /* seats of a slot */
    int seats;
    struct pacer_lateness lateness;
};

static int64_t slot_due_us(const struct pacer *pacer, int64_t number)
{
    return pacer->origin_us + number * PACER_SLOT_US;
}

static void set_timer(struct pacer *pacer)
{
    for (int64_t n = pacer->next; n < pacer->next + PACER_SLOTS; n++) {
        if (pacer->loads[n % PACER_SLOTS] == 0)
            continue;
        timer_set(&pacer->timer, slot_due_us(pacer, n));
        return;
    }
    timer_stop(&pacer->timer);
}

static void note_lateness(struct pacer *pacer, int64_t late_us)
{
    pacer->lateness.slots++;
    pacer->lateness.late += late_us > PACER_LATE_US;
    pacer->lateness.most_us = MAX(pacer->lateness.most_us, late_us);
}

void pacer_take_lateness(struct pacer *pacer, struct pacer_lateness *out)
{
    *out = pacer->lateness;
    pacer->lateness = (struct pacer_lateness){0};
}

/* Seats are moved to a list of their own and back one by one, so that any of them may leave or
 * move while the slot runs. */
static void run_slot(struct pacer *pacer, int64_t number)
{
    struct list_node *slot = &pacer->slots[number % PACER_SLOTS], running;
    if (list_is_empty(slot))
        return;
    note_lateness(pacer, clock_now_us() - slot_due_us(pacer, number));
    running = *slot;
    running.next->prev = running.prev->next = &running;
    list_init(slot);
    while (!list_is_empty(&running)) {
        struct pacer_seat *seat = LIST_FIRST(&running, struct pacer_seat, node);
        list_remove(&seat->node);
        list_push_back(slot, &seat->node);
        seat->fn(seat->arg, slot_due_us(pacer, number));
    }
}

static void on_timer(void *arg)
{
    struct pacer *pacer = arg;
    int64_t now_us = loop_now_us(pacer->loop);
    int64_t last = (now_us - pacer->origin_us) / PACER_SLOT_US;
    if (last - pacer->next > BEHIND_MAX_US / PACER_SLOT_US)
        pacer->next = last;
    while (pacer->next <= last)
        run_slot(pacer, pacer->next++);
    set_timer(pacer);
}

struct pacer *pacer_open(struct loop *loop)
{
    struct pacer *pacer = mem_new(struct pacer);
    pacer->loop = loop;
    pacer->origin_us = loop_now_us(loop);
    for (int i = 0; i < PACER_SLOTS; i++)
        list_init(&pacer->slots[i]);
    timer_init(&pacer->timer, loop, on_timer, pacer);
    return pacer;
}

static void free_pacer(void *arg)
{
    mem_free(arg);
}

void pacer_close(struct pacer *pacer)
{
    timer_stop(&pacer->timer);
    loop_defer(pacer->loop, free_pacer, pacer);
}

/* Number of the first slot after now. */
static int64_t slot_ahead(const struct pacer *pacer)
{
    return (loop_now_us(pacer->loop) - pacer->origin_us) / PACER_SLOT_US + 1;
}

/* The emptiest of the next ten slots; of equal ones the last, so that a frame that has just been
 * sent keeps its distance. */
static int choose(const struct pacer *pacer)
{
    int64_t first = MAX(slot_ahead(pacer), pacer->next), best = first;
    for (int64_t n = first; n < first + PACER_SLOTS; n++)
        if (pacer->loads[n % PACER_SLOTS] <= pacer->loads[best % PACER_SLOTS])
            best = n;
    return (int)(best % PACER_SLOTS);
}

static void sit(struct pacer *pacer, struct pacer_seat *seat)
{
    if (pacer->seats++ == 0)
        pacer->next = slot_ahead(pacer);
    seat->pacer = pacer;
    seat->slot = choose(pacer);
    pacer->loads[seat->slot]++;
    list_push_back(&pacer->slots[seat->slot], &seat->node);
    set_timer(pacer);
}

void pacer_join(struct pacer *pacer, struct pacer_seat *seat, pacer_fn *fn, void *arg)
{
    *seat = (struct pacer_seat){.fn = fn, .arg = arg};
    sit(pacer, seat);
}

void pacer_rephase(struct pacer_seat *seat)
{
    struct pacer *pacer = seat->pacer;
    pacer_leave(seat);
    sit(pacer, seat);
}

void pacer_leave(struct pacer_seat *seat)
{
    struct pacer *pacer = seat->pacer;
    if (!pacer)
        return;
    list_remove(&seat->node);
    pacer->loads[seat->slot]--;
    pacer->seats--;
    seat->pacer = NULL;
    set_timer(pacer);
}
