#include "rtc/data.h"

#include "sim_link.h"
#include "test.h"

struct ends {
    struct data *client, *server; /* of DTLS */
    int64_t now_us;
    struct data_event last;
    char text[64];
    unsigned opened, messages, channels_closed, closed;
};

static void ends_init(struct ends *ends)
{
    memset(ends, 0, sizeof(*ends));
    ends->client = data_new(&(struct data_config){.is_dtls_client = true});
    ends->server = data_new(&(struct data_config){0});
}

static void ends_clear(struct ends *ends)
{
    data_free(ends->client);
    data_free(ends->server);
}

static void carry(struct ends *ends, struct data *from, struct data *to)
{
    uint8_t packet[1200];
    size_t len;
    while ((len = data_output(from, packet, sizeof(packet), ends->now_us))) {
        data_input(to, packet, len, ends->now_us);
        struct data_event event;
        while (data_event(to, &event)) {
            ends->last = event;
            ends->opened += event.type == DATA_EVENT_CHANNEL_OPEN;
            ends->messages += event.type == DATA_EVENT_MESSAGE;
            ends->channels_closed += event.type == DATA_EVENT_CHANNEL_CLOSED;
            ends->closed += event.type == DATA_EVENT_CLOSED;
            if (event.type == DATA_EVENT_MESSAGE && event.len < sizeof(ends->text)) {
                memcpy(ends->text, event.bytes, event.len);
                ends->text[event.len] = 0;
            }
        }
    }
}

static void run(struct ends *ends)
{
    for (int i = 0; i < 50; i++) {
        carry(ends, ends->client, ends->server);
        carry(ends, ends->server, ends->client);
        ends->now_us += 20000;
    }
}

TEST(data_channels_open_by_label_from_both_sides)
{
    struct ends ends;
    uint16_t reliable, lossy, found;
    ends_init(&ends);
    CHECK_INT(data_open(ends.client, "_reliable", true, -1, &reliable), OK);
    CHECK_INT(data_open(ends.server, "_lossy", false, 0, &lossy), OK);
    CHECK_INT(reliable % 2, 0);
    CHECK_INT(lossy % 2, 1);
    data_start(ends.client, 0);
    data_start(ends.server, 0);
    run(&ends);
    CHECK_INT(ends.opened, 4);
    CHECK_INT(data_find(ends.server, "_reliable", &found), OK);
    CHECK_INT(found, reliable);
    CHECK_INT(data_find(ends.client, "_lossy", &found), OK);
    CHECK_INT(data_find(ends.client, "other", &found), ERR_NOT_FOUND);
    ends_clear(&ends);
}

TEST(data_channel_info_says_how_it_was_opened)
{
    struct ends ends;
    uint16_t id;
    ends_init(&ends);
    data_start(ends.client, 0);
    run(&ends);
    CHECK_INT(data_open(ends.client, "_lossy", false, 0, &id), OK);
    carry(&ends, ends.client, ends.server);
    CHECK_INT(ends.last.type, DATA_EVENT_CHANNEL_OPEN);
    CHECK_TEXT(ends.last.channel.label, "_lossy");
    CHECK(!ends.last.channel.is_ordered);
    CHECK(ends.last.channel.has_retransmit_limit);
    CHECK_INT(ends.last.channel.max_retransmits, 0);
    ends_clear(&ends);
}

TEST(data_messages_of_every_kind_arrive)
{
    struct ends ends;
    uint16_t id;
    ends_init(&ends);
    CHECK_INT(data_open(ends.client, "x", true, -1, &id), OK);
    CHECK_INT(data_send(ends.client, id, "early", 5, false), OK); /* before the association */
    data_start(ends.client, 0);
    run(&ends);
    CHECK_TEXT(ends.text, "early");
    CHECK(!ends.last.is_binary);
    CHECK_INT(data_send(ends.server, id, "", 0, true), OK);
    run(&ends);
    CHECK_INT(ends.messages, 2);
    CHECK_TEXT(ends.text, "");
    CHECK(ends.last.is_binary);
    static uint8_t big[65536];
    CHECK_INT(data_send(ends.server, id, big, sizeof(big), true), OK);
    run(&ends);
    CHECK_INT(ends.messages, 3);
    CHECK_INT(ends.last.len, sizeof(big));
    CHECK_INT(data_send(ends.server, id + 2, "x", 1, true), ERR_NOT_FOUND);
    ends_clear(&ends);
}

TEST(data_channels_close_and_their_ids_are_free_again)
{
    struct ends ends;
    uint16_t first, second;
    ends_init(&ends);
    data_start(ends.client, 0);
    CHECK_INT(data_open(ends.client, "a", true, -1, &first), OK);
    run(&ends);
    data_close_channel(ends.client, first);
    run(&ends);
    CHECK_INT(ends.channels_closed, 1);
    CHECK_INT(data_open(ends.client, "b", true, -1, &second), OK);
    CHECK_INT(second, first);
    CHECK_INT(data_send(ends.client, second, "again", 5, false), OK);
    run(&ends);
    CHECK_TEXT(ends.text, "again");
    ends_clear(&ends);
}

TEST(data_refuses_long_labels_and_too_many_channels)
{
    struct ends ends;
    uint16_t id;
    char label[DATA_LABEL_SIZE + 1] = {0};
    ends_init(&ends);
    memset(label, 'x', DATA_LABEL_SIZE);
    CHECK_INT(data_open(ends.client, label, true, -1, &id), ERR_INVALID);
    for (int i = 0; i < DATA_CHANNELS / 2; i++)
        CHECK_INT(data_open(ends.client, "x", true, -1, &id), OK);
    CHECK_INT(data_open(ends.client, "x", true, -1, &id), ERR_LIMIT);
    ends_clear(&ends);
}

TEST(data_abort_ends_the_other_side)
{
    struct ends ends;
    ends_init(&ends);
    data_start(ends.client, 0);
    run(&ends);
    data_abort(ends.server);
    run(&ends);
    CHECK_INT(ends.closed, 1);
    ends_clear(&ends);
}
