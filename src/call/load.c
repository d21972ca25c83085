#include "call/load.h"

enum {
    FRAMES_PER_S = 50,
    SPEAKS_PM = 500,        /* of the time an agent speaks */
    LATE_SLOTS_PM = 50,     /* of a look's slots: then the look was late */
    LATE_LOOKS = 2,         /* in a row, so that one hiccup lowers nothing */
    LATE_HOLD_US = 3000000, /* full for so long after slots were late */
    CALM_US = 4000000,      /* before anything is raised again */
    LEARN_CALLS = 10,       /* fewer tell too little */
    LEARN_PART = 8,         /* of a look's figure goes into what was learned */
    FIXED_RANGE = 4,        /* what is learned stays within this factor of the first guess */
    STEP_PART = 8,          /* of the calls are lowered or raised at a time */
};

/* Microseconds of CPU a second that encoding costs a call, on the average. */
static int64_t encoding_us(const struct load *load, enum codec_profile profile)
{
    return load->frame_ns[profile] * FRAMES_PER_S * SPEAKS_PM / 1000 / 1000;
}

/* The rest of a call costs about two thirds of what its encoding at best does: 3 ms a second in
 * all, of which a fifth to a third was encoding in the cheaper profiles, where 223 calls were
 * measured. A ramp of calls is judged by this guess alone, as they are too young to be learned
 * from. */
static int64_t first_guess_us(const struct load *load)
{
    return MAX(load->frame_ns[CODEC_VOIP] * FRAMES_PER_S * SPEAKS_PM / 1000 * 2 / 3 / 1000, 1);
}

void load_init(struct load *load, int64_t capacity_pm, const int64_t frame_ns[CODEC_PROFILES],
               enum codec_profile best)
{
    *load = (struct load){.capacity_pm = MAX(capacity_pm, 1), .best = best};
    for (int i = 0; i < CODEC_PROFILES; i++)
        load->frame_ns[i] = frame_ns[i];
    load->fixed_us = first_guess_us(load);
    atomic_store(&load->room, LOAD_ROOM_MAX);
}

static unsigned total(const struct load_sight *sight)
{
    unsigned calls = sight->relaying;
    for (int i = 0; i < CODEC_PROFILES; i++)
        calls += sight->calls[i];
    return calls;
}

static int64_t share_pm(const struct load *load, int64_t us_per_s)
{
    return us_per_s / load->capacity_pm; /* us a second of a core: 1,000 are a thousandth */
}

static int64_t all_encoding_us(const struct load *load, const struct load_sight *sight)
{
    int64_t us = 0;
    for (int i = 0; i < CODEC_PROFILES; i++)
        us += sight->calls[i] * encoding_us(load, (enum codec_profile)i);
    return us;
}

static void learn(struct load *load, const struct load_sight *sight, int64_t own_us)
{
    unsigned calls = total(sight);
    if (sight->young > calls / 4 || calls < LEARN_CALLS)
        return;
    int64_t fixed_us = (own_us - all_encoding_us(load, sight)) / calls;
    int64_t guess_us = first_guess_us(load);
    fixed_us = MIN(MAX(fixed_us, guess_us / FIXED_RANGE), guess_us * FIXED_RANGE);
    load->fixed_us += (fixed_us - load->fixed_us) / LEARN_PART;
}

static void note_lateness(struct load *load, const struct load_sight *sight)
{
    bool is_late = sight->late * 1000 > sight->slots * LATE_SLOTS_PM;
    load->late_looks = is_late ? load->late_looks + 1 : 0;
    if (load->late_looks >= LATE_LOOKS)
        load->late_us = sight->now_us;
    if (is_late || load->calm_since_us == 0)
        load->calm_since_us = sight->now_us;
}

static bool can_lower(const struct load_sight *sight)
{
    return sight->calls[CODEC_PROFILES - 1] + sight->relaying < total(sight);
}

/* Calls in a profile cheaper than the settings'. */
static bool can_raise(const struct load *load, const struct load_sight *sight)
{
    unsigned lowered = 0;
    for (int i = load->best + 1; i < CODEC_PROFILES; i++)
        lowered += sight->calls[i];
    return lowered > 0;
}

static bool is_held_up(const struct load *load, const struct load_sight *sight)
{
    return load->late_us && sight->now_us - load->late_us < LATE_HOLD_US;
}

static int room(const struct load *load, const struct load_sight *sight, bool is_ours)
{
    int64_t others_pm = is_ours ? sight->others_pm : 0;
    int64_t cheapest_us = load->fixed_us + encoding_us(load, CODEC_PROFILES - 1);
    int64_t most = (LOAD_FULL - others_pm) * load->capacity_pm / MAX(cheapest_us, 1);
    int64_t left = most - total(sight);
    if (is_ours && is_held_up(load, sight) && !can_lower(sight))
        left = 0;
    return (int)MIN(MAX(left, 0), LOAD_ROOM_MAX);
}

static enum load_step choose(const struct load *load, const struct load_sight *sight, bool is_ours)
{
    int64_t busy_pm = load->share_pm + sight->others_pm;
    bool is_late = load->late_looks >= LATE_LOOKS;
    if (is_ours && (busy_pm > LOAD_LOWER || is_late))
        return can_lower(sight) ? LOAD_LOWER_SOME : LOAD_STAY;
    bool is_calm = sight->now_us - load->calm_since_us >= CALM_US;
    bool has_space = busy_pm < LOAD_RAISE || !is_ours;
    return is_calm && has_space && can_raise(load, sight) ? LOAD_RAISE_SOME : LOAD_STAY;
}

enum load_step load_look(struct load *load, const struct load_sight *sight)
{
    int64_t own_us = sight->own_us * 1000000 / MAX(sight->span_us, 1);
    learn(load, sight, own_us);
    note_lateness(load, sight);
    int64_t projected_us = total(sight) * load->fixed_us + all_encoding_us(load, sight);
    load->share_pm = share_pm(load, MAX(own_us, projected_us));
    load->others_pm = sight->others_pm;
    bool is_ours = load->share_pm >= LOAD_OURS;
    atomic_store(&load->room, room(load, sight, is_ours));
    return choose(load, sight, is_ours);
}

unsigned load_step_calls(unsigned calls)
{
    return MAX(calls / STEP_PART, 1U);
}

bool load_take(struct load *load)
{
    return atomic_fetch_sub(&load->room, 1) > 0;
}
