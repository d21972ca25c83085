#include "audio/jitter.h"

#include <stdio.h>

#include "base/attr.h"
#include "test.h"

/* A script of packets by sequence, and what comes out as text: P5 a packet, R a recovered frame,
 * L2 two lost frames, . a frame of silence. */
struct bench {
    struct jitter jitter;
    char out[400];
    int64_t now_us;
};

static void put(struct bench *bench, const char *text)
{
    strncat(bench->out, text, sizeof(bench->out) - strlen(bench->out) - 1);
}

static void drain(struct bench *bench)
{
    struct jitter_step step;
    char text[32] = "";
    while (jitter_output(&bench->jitter, bench->now_us, &step)) {
        if (step.kind == JITTER_PACKET)
            snprintf(text, sizeof(text), "P%u ", step.payload[0]);
        else if (step.kind == JITTER_RECOVER)
            snprintf(text, sizeof(text), "R ");
        else if (step.kind == JITTER_LOST)
            snprintf(text, sizeof(text), "L%u ", step.ticks / 960);
        else
            snprintf(text, sizeof(text), ". ");
        put(bench, text);
    }
}

static void send(struct bench *bench, int64_t now_us, unsigned number, uint32_t timestamp)
{
    uint8_t payload = (uint8_t)number;
    bench->now_us = now_us;
    struct jitter_arrival arrival = {&payload, 1, 960, (uint16_t)(65530 + number), timestamp};
    jitter_input(&bench->jitter, &arrival, now_us);
    drain(bench);
}

static void at(struct bench *bench, int64_t now_us)
{
    bench->now_us = now_us;
    drain(bench);
}

static void start(struct bench *bench)
{
    *bench = (struct bench){0};
    jitter_init(&bench->jitter);
}

TEST(jitter_lets_ordered_packets_through_at_once_over_the_wrap)
{
    struct bench bench;
    start(&bench);
    CHECK(jitter_deadline_us(&bench.jitter) == INT64_MAX);
    for (unsigned i = 0; i < 9; i++)
        send(&bench, i * 20000, i, i * 960 - 2000);
    CHECK_TEXT(bench.out, "P0 P1 P2 P3 P4 P5 P6 P7 P8 ");
    CHECK_INT(bench.jitter.stats.packets, 9);
    CHECK_INT(bench.jitter.stats.jitter_us, 0);
}

TEST(jitter_reorders_and_drops_duplicates)
{
    struct bench bench;
    start(&bench);
    send(&bench, 0, 0, 0);
    send(&bench, 20000, 2, 1920);
    send(&bench, 21000, 2, 1920);
    send(&bench, 25000, 1, 960);
    send(&bench, 26000, 1, 960);
    CHECK_TEXT(bench.out, "P0 P1 P2 ");
    CHECK_INT(bench.jitter.stats.refused, 1);
    CHECK_INT(bench.jitter.stats.late, 1);
    CHECK_INT(bench.jitter.stats.lost, 0);
}

TEST(jitter_recovers_one_lost_packet_from_the_next)
{
    struct bench bench;
    start(&bench);
    send(&bench, 0, 0, 0);
    send(&bench, 40000, 2, 1920);
    CHECK_TEXT(bench.out, "P0 ");
    int64_t due_us = jitter_deadline_us(&bench.jitter);
    CHECK(due_us >= 60000 && due_us <= 160000);
    at(&bench, due_us - 1);
    CHECK_TEXT(bench.out, "P0 ");
    at(&bench, due_us);
    CHECK_TEXT(bench.out, "P0 R P2 ");
    CHECK_INT(bench.jitter.stats.lost, 1);
}

TEST(jitter_conceals_a_long_gap_up_to_its_bound)
{
    struct bench bench;
    start(&bench);
    send(&bench, 0, 0, 0);
    send(&bench, 20000, 4, 4 * 960);
    at(&bench, 200000);
    CHECK_TEXT(bench.out, "P0 L2 R P4 . . . . . . . . ");
    start(&bench);
    send(&bench, 0, 0, 0);
    send(&bench, 20000, 11, 11 * 960);
    at(&bench, 140000);
    CHECK_TEXT(bench.out, "P0 L4 R P11 . . . . . ");
    CHECK_INT(bench.jitter.stats.lost, 10);
}

TEST(jitter_tells_silence_while_nothing_comes)
{
    struct bench bench;
    start(&bench);
    send(&bench, 0, 0, 0);
    at(&bench, 79000);
    CHECK_TEXT(bench.out, "P0 ");
    at(&bench, 80000);
    CHECK_TEXT(bench.out, "P0 . . . ");
    at(&bench, 100000);
    CHECK_TEXT(bench.out, "P0 . . . . ");
    /* sent without a break in the sequence: DTX, nothing is lost */
    send(&bench, 400000, 1, 400 * 48);
    CHECK_INT(bench.jitter.stats.lost, 0);
    const char *tail = bench.out + strlen(bench.out) - 3;
    CHECK_TEXT(tail, "P1 ");
}

TEST(jitter_does_not_conceal_what_silence_has_covered)
{
    struct bench bench;
    start(&bench);
    send(&bench, 0, 0, 0);
    at(&bench, 200000);
    CHECK_TEXT(bench.out, "P0 . . . . . . . . . ");
    send(&bench, 200000, 10, 10 * 960);
    at(&bench, 279000);
    CHECK_TEXT(bench.out, "P0 . . . . . . . . . P10 ");
}

TEST(jitter_skips_over_an_outage_longer_than_its_slots)
{
    struct bench bench;
    start(&bench);
    send(&bench, 0, 0, 0);
    send(&bench, 2000000, 100, 100 * 960);
    CHECK_TEXT(bench.out, "P0 P100 ");
    CHECK_INT(bench.jitter.stats.lost, 99);
}

TEST(jitter_believes_a_jump_when_it_is_confirmed)
{
    struct bench bench;
    start(&bench);
    send(&bench, 0, 0, 0);
    send(&bench, 20000, 5000, 960);
    CHECK_TEXT(bench.out, "P0 ");
    send(&bench, 40000, 5001, 1920);
    send(&bench, 60000, 5002, 2880);
    CHECK_TEXT(bench.out, "P0 P137 P138 ");
}

TEST(jitter_refuses_what_does_not_fit)
{
    struct jitter jitter;
    uint8_t payload[JITTER_PAYLOAD_MAX_BYTES + 1] = {0};
    jitter_init(&jitter);
    jitter_input(&jitter, &(struct jitter_arrival){payload, sizeof(payload), 960, 1, 0}, 0);
    jitter_input(&jitter, &(struct jitter_arrival){payload, 1, 0, 1, 0}, 0);
    CHECK_INT(jitter.stats.refused, 2);
    CHECK_INT(jitter.stats.packets, 0);
}

TEST(jitter_waits_longer_when_packets_come_unevenly)
{
    struct bench bench;
    start(&bench);
    for (unsigned i = 0; i < 40; i++)
        send(&bench, i * 20000 + (i % 2) * 15000, i, i * 960);
    CHECK(bench.jitter.stats.jitter_us > 8000);
    send(&bench, 41 * 20000, 41, 41 * 960);
    int64_t wait_us = jitter_deadline_us(&bench.jitter) - 41 * 20000;
    CHECK(wait_us > 40000 && wait_us <= JITTER_WAIT_MAX_US);
}
