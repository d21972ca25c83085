#include "engine/stt.h"
#include "talk/endpoint.h"
#include "test.h"

TEST(finished_text_is_told_from_unfinished)
{
    static const struct {
        const char *text, *iso;
        bool punctuates, is_finished;
    } rows[] = {
        {"What time is it?", "en", true, true}, {"what time is it", "en", false, true},
        {"what time is it", "en", true, false}, {"I would like to", "en", false, false},
        {"because", "en", false, false},        {"one, two,", "en", false, false},
        {"मुझे पिज़्ज़ा चाहिए।", "hi", true, true},  {"मुझे पिज़्ज़ा और", "hi", false, false},
        {"He said \"no.\"", "en", true, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (endpoint_looks_finished(rows[i].text, rows[i].iso, rows[i].punctuates) !=
            rows[i].is_finished)
            test_fail(__FILE__, __LINE__, "%s", rows[i].text);
}

static void hear(struct endpoint *endpoint, enum stt_event_kind kind, const char *text,
                 int64_t now_us)
{
    struct stt_event event = {.kind = kind, .text = text, .gen = endpoint->flush_gen};
    endpoint_heard(endpoint, &event, now_us);
}

TEST(pieces_add_up_until_the_verdict)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    endpoint_voice_started(&endpoint, 1000000);
    hear(&endpoint, STT_PARTIAL, "hel", 1200000);
    hear(&endpoint, STT_FINAL, "hello", 1300000);
    hear(&endpoint, STT_PARTIAL, "wor", 1400000);
    CHECK_TEXT(endpoint_text(&endpoint), "hello wor");
    CHECK_INT(endpoint_verdict(&endpoint, 9000000), ENDPOINT_OPEN); /* still voiced */
    CHECK_INT(endpoint_voice_stopped(&endpoint, 2000000), 1);
    hear(&endpoint, STT_FINAL, "world", 2300000);
    hear(&endpoint, STT_FLUSHED, NULL, 2300000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 2550000);
    CHECK_INT(endpoint_verdict(&endpoint, 2549999), ENDPOINT_OPEN);
    CHECK_INT(endpoint_verdict(&endpoint, 2550000), ENDPOINT_COMMIT);
    endpoint_reset(&endpoint, true);
    CHECK_TEXT(endpoint_text(&endpoint), "");
    CHECK_INT(endpoint_deadline_us(&endpoint), INT64_MAX);
    endpoint_clear(&endpoint);
}

TEST(silence_without_words_is_void)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    endpoint_voice_started(&endpoint, 1000000);
    endpoint_voice_stopped(&endpoint, 1100000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 3100000);
    hear(&endpoint, STT_FLUSHED, NULL, 1400000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 1650000);
    CHECK_INT(endpoint_verdict(&endpoint, 1650000), ENDPOINT_VOID);
    endpoint_clear(&endpoint);
}

TEST(an_older_flush_does_not_count)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    endpoint_voice_started(&endpoint, 1000000);
    uint32_t first = endpoint_voice_stopped(&endpoint, 1100000);
    endpoint_voice_started(&endpoint, 1400000);
    endpoint_voice_stopped(&endpoint, 1600000);
    struct stt_event event = {.kind = STT_FLUSHED, .gen = first};
    endpoint_heard(&endpoint, &event, 1700000);
    CHECK(!endpoint.is_flushed);
    endpoint_clear(&endpoint);
}

TEST(a_longer_delay_of_the_call_wins_over_the_cap)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 6000000, 550000, "en");
    endpoint_voice_started(&endpoint, 1000000);
    hear(&endpoint, STT_PARTIAL, "yes", 1050000);
    endpoint_voice_stopped(&endpoint, 1100000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 7100000);
    endpoint_clear(&endpoint);
}
