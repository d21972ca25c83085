#include "rtc/sctp.h"

#include <stdio.h>

#include "rtc/sctp_wire.h"
#include "sim_link.h"
#include "test.h"

enum { PORT = 5000, MTU = 1200 };

/* Two associations over a link; `got` counts what B received. */
struct pair {
    struct sctp *a, *b;
    struct link link;
    int64_t now_us;
    unsigned opened, closed, resets, messages;
    uint16_t reset_stream;
    uint32_t next_number; /* of numbered messages */
    unsigned out_of_order;
    size_t last_len;
    uint8_t last_byte;
    bool is_content_right;
};

static void pair_init(struct pair *pair, unsigned loss_percent, int64_t jitter_us)
{
    memset(pair, 0, sizeof(*pair));
    pair->a = sctp_new(&(struct sctp_config){.port = PORT});
    pair->b = sctp_new(&(struct sctp_config){.port = PORT, .tsn = UINT32_MAX - 3});
    pair->link = (struct link){.seed = 7, .loss_percent = loss_percent, .delay_us = 20000};
    pair->link.jitter_us = jitter_us;
    pair->now_us = 1000000;
    pair->is_content_right = true;
}

static void pair_clear(struct pair *pair)
{
    sctp_free(pair->a);
    sctp_free(pair->b);
    link_clear(&pair->link);
}

/* Byte i of a message of that number. */
static uint8_t content(uint32_t number, size_t i)
{
    return (uint8_t)(number * 31 + i * 7 + (i >> 8));
}

static void take_message(struct pair *pair, const struct sctp_event *event)
{
    pair->messages++;
    pair->last_len = event->len;
    pair->last_byte = event->data[event->len - 1];
    if (event->len < 4)
        return;
    uint32_t number = sctp_get32(event->data);
    if (number != pair->next_number)
        pair->out_of_order++;
    pair->next_number = number + 1;
    for (size_t i = 4; i < event->len; i++)
        pair->is_content_right &= event->data[i] == content(number, i);
}

static void take_events(struct pair *pair, struct sctp *sctp)
{
    struct sctp_event event;
    while (sctp_event(sctp, &event)) {
        pair->opened += event.type == SCTP_EVENT_OPEN;
        pair->closed += event.type == SCTP_EVENT_CLOSED;
        pair->resets += event.type == SCTP_EVENT_RESET;
        if (event.type == SCTP_EVENT_RESET)
            pair->reset_stream = event.stream;
        if (event.type == SCTP_EVENT_MESSAGE)
            take_message(pair, &event);
    }
}

static void flush(struct pair *pair, struct sctp *sctp)
{
    uint8_t packet[MTU];
    size_t len;
    for (int i = 0; i < 1000 && (len = sctp_output(sctp, packet, sizeof(packet), pair->now_us));
         i++)
        link_put(&pair->link, sctp == pair->a, packet, len, pair->now_us);
}

/* Runs until nothing is due within limit_us. */
static void run(struct pair *pair, int64_t limit_us)
{
    int64_t end_us = pair->now_us + limit_us;
    for (;;) {
        struct link_packet packet;
        while (link_take(&pair->link, pair->now_us, &packet)) {
            struct sctp *to = packet.to_b ? pair->b : pair->a;
            sctp_input(to, packet.data, packet.len, pair->now_us);
            free(packet.data);
        }
        take_events(pair, pair->a);
        take_events(pair, pair->b);
        flush(pair, pair->a);
        flush(pair, pair->b);
        take_events(pair, pair->a);
        take_events(pair, pair->b);
        int64_t due_us = link_due_us(&pair->link);
        if (sctp_deadline_us(pair->a) < due_us)
            due_us = sctp_deadline_us(pair->a);
        if (sctp_deadline_us(pair->b) < due_us)
            due_us = sctp_deadline_us(pair->b);
        if (due_us > end_us)
            break;
        if (due_us > pair->now_us)
            pair->now_us = due_us;
    }
    pair->now_us = end_us;
}

static enum err send_numbered(struct pair *pair, const struct sctp_send *how, uint32_t number,
                              size_t len)
{
    uint8_t *message = malloc(len);
    for (size_t i = 4; i < len; i++)
        message[i] = content(number, i);
    sctp_put32(message, number);
    enum err err = sctp_send(pair->a, how, message, len);
    free(message);
    return err;
}

TEST(sctp_checksum_is_crc32c)
{
    /* RFC 3720 appendix B.4 has CRC32c of 32 bytes of zeros: 0x8A9136AA. The checksum field (bytes
     * 8 to 11) counts as zero, so whatever stands there does not matter. */
    uint8_t packet[32] = {0};
    CHECK_INT(sctp_checksum(packet, sizeof(packet)), 0x8A9136AA);
    packet[9] = 77;
    CHECK_INT(sctp_checksum(packet, sizeof(packet)), 0x8A9136AA);
}

TEST(sctp_opens_from_either_side_and_from_both)
{
    for (int starters = 1; starters <= 3; starters++) {
        struct pair pair;
        pair_init(&pair, 0, 0);
        if (starters & 1)
            sctp_connect(pair.a, pair.now_us);
        if (starters & 2)
            sctp_connect(pair.b, pair.now_us);
        run(&pair, 1000000);
        CHECK(sctp_is_open(pair.a));
        CHECK(sctp_is_open(pair.b));
        CHECK_INT(pair.opened, 2);
        pair_clear(&pair);
    }
}

TEST(sctp_opens_over_a_lossy_link)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct pair pair;
        pair_init(&pair, 30, 10000);
        pair.link.seed = seed;
        sctp_connect(pair.a, pair.now_us);
        if (seed % 2)
            sctp_connect(pair.b, pair.now_us);
        run(&pair, 20000000);
        CHECK(sctp_is_open(pair.a));
        CHECK(sctp_is_open(pair.b));
        pair_clear(&pair);
    }
}

TEST(sctp_carries_messages_of_every_size)
{
    static const size_t sizes[] = {4, 5, 1000, 1160, 1168, 1172, 1176, 1200, 15000, 65536};
    struct pair pair;
    pair_init(&pair, 0, 0);
    sctp_connect(pair.a, pair.now_us);
    struct sctp_send how = {.stream = 3, .ppid = 53};
    for (uint32_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        CHECK_INT(send_numbered(&pair, &how, i, sizes[i]), OK);
    run(&pair, 10000000);
    CHECK_INT(pair.messages, sizeof(sizes) / sizeof(*sizes));
    CHECK_INT(pair.out_of_order, 0);
    CHECK(pair.is_content_right);
    CHECK_INT(sctp_queued_bytes(pair.a), 0);
    pair_clear(&pair);
}

TEST(sctp_refuses_what_is_too_large)
{
    static uint8_t big[SCTP_MESSAGE_MAX_BYTES + 1];
    struct pair pair;
    pair_init(&pair, 0, 0);
    struct sctp_send how = {.stream = 0};
    CHECK_INT(sctp_send(pair.a, &how, big, sizeof(big)), ERR_LIMIT);
    CHECK_INT(sctp_send(pair.a, &how, big, 0), ERR_INVALID);
    for (size_t sent = 0; sent < SCTP_SEND_MAX_BYTES; sent += SCTP_MESSAGE_MAX_BYTES)
        CHECK_INT(sctp_send(pair.a, &how, big, SCTP_MESSAGE_MAX_BYTES), OK);
    CHECK_INT(sctp_send(pair.a, &how, big, 1), ERR_LIMIT);
    how.stream = SCTP_STREAMS;
    CHECK_INT(sctp_send(pair.a, &how, big, 1), ERR_INVALID);
    pair_clear(&pair);
}

TEST(sctp_ordered_messages_survive_loss_reordering_and_duplicates)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct pair pair;
        pair_init(&pair, 12, 30000);
        pair.link.seed = seed;
        pair.link.duplicate_percent = 10;
        sctp_connect(pair.a, pair.now_us);
        struct sctp_send how = {.stream = 1, .ppid = 53};
        for (uint32_t i = 0; i < 100; i++)
            CHECK_INT(send_numbered(&pair, &how, i, 4 + i * 23 % 4000), OK);
        run(&pair, 120000000);
        CHECK_INT(pair.messages, 100);
        CHECK_INT(pair.out_of_order, 0);
        CHECK(pair.is_content_right);
        CHECK_INT(sctp_queued_bytes(pair.a), 0);
        struct sctp_stats stats;
        sctp_stats(pair.a, &stats);
        CHECK(stats.retransmitted_chunks > 0);
        pair_clear(&pair);
    }
}

TEST(sctp_unordered_messages_arrive_all_and_whole)
{
    struct pair pair;
    pair_init(&pair, 15, 40000);
    sctp_connect(pair.a, pair.now_us);
    struct sctp_send how = {.stream = 2, .is_unordered = true};
    for (uint32_t i = 0; i < 60; i++)
        CHECK_INT(send_numbered(&pair, &how, i, 2500), OK);
    run(&pair, 120000000);
    CHECK_INT(pair.messages, 60);
    CHECK(pair.out_of_order > 0);
    CHECK(pair.is_content_right);
    pair_clear(&pair);
}

TEST(sctp_limited_messages_are_given_up_and_the_stream_goes_on)
{
    for (int is_unordered = 0; is_unordered <= 1; is_unordered++) {
        struct pair pair;
        pair_init(&pair, 0, 0);
        sctp_connect(pair.a, pair.now_us);
        run(&pair, 1000000);
        pair.link.loss_percent = 25;
        struct sctp_send how = {.stream = 2, .is_unordered = is_unordered};
        how.has_retransmit_limit = true;
        for (uint32_t i = 0; i < 200; i++) {
            CHECK_INT(send_numbered(&pair, &how, i, 1800), OK);
            run(&pair, 100000);
        }
        pair.link.loss_percent = 0;
        run(&pair, 60000000);
        struct sctp_stats stats;
        sctp_stats(pair.a, &stats);
        CHECK(stats.messages_given_up > 10);
        CHECK_INT(stats.retransmitted_chunks, 0);
        CHECK(pair.messages >= 200 - stats.messages_given_up);
        CHECK(pair.is_content_right);
        CHECK_INT(sctp_queued_bytes(pair.a), 0);
        how.has_retransmit_limit = false; /* the same stream still carries reliable messages */
        unsigned before = pair.messages;
        CHECK_INT(send_numbered(&pair, &how, 1000, 5000), OK);
        run(&pair, 5000000);
        CHECK_INT(pair.messages, before + 1);
        pair_clear(&pair);
    }
}

TEST(sctp_lost_fragments_come_again_before_the_timer)
{
    struct pair pair;
    pair_init(&pair, 0, 0);
    sctp_connect(pair.a, pair.now_us);
    run(&pair, 1000000);
    struct sctp_send how = {.stream = 1};
    uint8_t packet[MTU];
    CHECK_INT(send_numbered(&pair, &how, 0, 500), OK);
    CHECK(sctp_output(pair.a, packet, sizeof(packet), pair.now_us) > 0); /* lost on the way */
    for (uint32_t i = 1; i <= 4; i++) {
        CHECK_INT(send_numbered(&pair, &how, i, 500), OK);
        flush(&pair, pair.a);
    }
    run(&pair, 150000); /* two round trips; the timer is 300 ms at least */
    CHECK_INT(pair.messages, 5);
    CHECK_INT(pair.out_of_order, 0);
    pair_clear(&pair);
}

TEST(sctp_a_stalled_reader_holds_the_sender)
{
    struct pair pair;
    pair_init(&pair, 0, 0);
    sctp_connect(pair.a, pair.now_us);
    run(&pair, 1000000);
    struct sctp_send how = {.stream = 1};
    for (uint32_t i = 0; i < 4; i++)
        CHECK_INT(send_numbered(&pair, &how, i, 60000), OK);
    uint8_t packet[MTU];
    size_t len;
    for (int turn = 0; turn < 200; turn++) { /* B's events are not taken */
        while ((len = sctp_output(pair.a, packet, sizeof(packet), pair.now_us)))
            sctp_input(pair.b, packet, len, pair.now_us);
        while ((len = sctp_output(pair.b, packet, sizeof(packet), pair.now_us)))
            sctp_input(pair.a, packet, len, pair.now_us);
        pair.now_us += 60000;
    }
    CHECK(sctp_queued_bytes(pair.a) > 60000);
    CHECK(sctp_is_open(pair.a));
    run(&pair, 60000000);
    CHECK_INT(pair.messages, 4);
    CHECK(pair.is_content_right);
    pair_clear(&pair);
}

TEST(sctp_streams_can_be_reset_and_used_again)
{
    struct pair pair;
    pair_init(&pair, 10, 10000);
    sctp_connect(pair.a, pair.now_us);
    struct sctp_send how = {.stream = 5};
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT(send_numbered(&pair, &how, i, 3000), OK);
    sctp_reset_stream(pair.a, 5);
    run(&pair, 20000000);
    CHECK_INT(pair.messages, 3);
    CHECK_INT(pair.resets, 1);
    CHECK_INT(pair.reset_stream, 5);
    CHECK_INT(send_numbered(&pair, &how, 3, 100), OK);
    run(&pair, 20000000);
    CHECK_INT(pair.messages, 4);
    pair_clear(&pair);
}

TEST(sctp_shuts_down_after_the_last_message)
{
    struct pair pair;
    pair_init(&pair, 10, 10000);
    sctp_connect(pair.a, pair.now_us);
    run(&pair, 20000000);
    struct sctp_send how = {.stream = 1};
    CHECK_INT(send_numbered(&pair, &how, 0, 30000), OK);
    sctp_shutdown(pair.a, pair.now_us);
    CHECK_INT(sctp_send(pair.a, &how, "x", 1), ERR_CLOSED);
    run(&pair, 60000000);
    CHECK_INT(pair.messages, 1);
    CHECK_INT(pair.closed, 2);
    CHECK(sctp_deadline_us(pair.a) == INT64_MAX);
    pair_clear(&pair);
}

TEST(sctp_abort_reaches_the_peer)
{
    struct pair pair;
    pair_init(&pair, 0, 0);
    sctp_connect(pair.a, pair.now_us);
    run(&pair, 1000000);
    sctp_abort(pair.b);
    run(&pair, 1000000);
    CHECK_INT(pair.closed, 2);
    struct sctp_send how = {.stream = 1};
    CHECK_INT(sctp_send(pair.a, &how, "x", 1), ERR_CLOSED);
    pair_clear(&pair);
}

TEST(sctp_gives_up_on_a_dead_peer)
{
    struct pair pair;
    pair_init(&pair, 100, 0);
    sctp_connect(pair.a, pair.now_us);
    run(&pair, 120000000);
    CHECK_INT(pair.closed, 1);
    pair_clear(&pair);

    pair_init(&pair, 0, 0);
    sctp_connect(pair.a, pair.now_us);
    run(&pair, 1000000);
    pair.link.loss_percent = 100;
    struct sctp_send how = {.stream = 1};
    CHECK_INT(send_numbered(&pair, &how, 0, 100), OK);
    run(&pair, 120000000);
    CHECK_INT(pair.closed, 1);
    pair_clear(&pair);
}

/* Garbage with a right checksum and tag: nothing but the association itself may suffer. */
TEST(sctp_survives_mutated_packets)
{
    struct pair pair;
    pair_init(&pair, 0, 0);
    sctp_connect(pair.a, pair.now_us);
    run(&pair, 1000000);
    struct sctp_send how = {.stream = 1};
    uint8_t packet[MTU];
    for (uint32_t i = 0; i < 20000; i++) {
        (void)send_numbered(&pair, &how, i, 4 + link_random(&pair.link) % 3000);
        size_t len = sctp_output(pair.a, packet, sizeof(packet), pair.now_us);
        for (int n = 0; len > 16 && n < 3; n++)
            packet[12 + link_random(&pair.link) % (len - 12)] = (uint8_t)link_random(&pair.link);
        if (len > 0) {
            uint32_t sum = sctp_checksum(packet, len);
            for (int k = 0; k < 4; k++)
                packet[8 + k] = (uint8_t)(sum >> 8 * k);
            sctp_input(pair.b, packet, len, pair.now_us);
        }
        take_events(&pair, pair.b);
        while ((len = sctp_output(pair.b, packet, sizeof(packet), pair.now_us)))
            sctp_input(pair.a, packet, len, pair.now_us);
        pair.now_us += 5000;
        if (!sctp_is_open(pair.a) || !sctp_is_open(pair.b)) {
            pair_clear(&pair);
            pair_init(&pair, 0, 0);
            pair.link.seed = i;
            sctp_connect(pair.a, pair.now_us);
            run(&pair, 1000000);
        }
    }
    pair_clear(&pair);
}
