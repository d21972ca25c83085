#include "talk/endpoint.h"

#include <stdio.h>

#include "base/attr.h"
#include "engine/stt.h"
#include "test.h"

static void hear(struct endpoint *endpoint, enum stt_event_kind kind, const char *text,
                 int64_t now_us)
{
    struct stt_event event = {.kind = kind, .text = text, .gen = endpoint->flush_gen};
    endpoint_heard(endpoint, &event, now_us);
}

/* Says it from 1 s to 2 s; returns how long after the voice the turn is taken. */
static int64_t wait_after(struct endpoint *endpoint, const char *text)
{
    endpoint_voice_started(endpoint, 1000000);
    endpoint_voice_stopped(endpoint, 2000000);
    hear(endpoint, STT_FINAL, text, 2200000);
    hear(endpoint, STT_FLUSHED, NULL, 2200000);
    return endpoint_deadline_us(endpoint) - 2000000;
}

TEST(text_that_goes_on_waits_longer)
{
    static const struct {
        const char *text, *iso;
        int64_t wait_us;
    } rows[] = {
        {"What time is it?", "en", 550000},  {"what time is it", "en", 550000},
        {"I would like to", "en", 1100000},  {"because", "en", 1100000},
        {"one, two,", "en", 1700000},        {"my number is nine eight", "en", 1700000},
        {"मुझे पिज़्ज़ा चाहिए।", "hi", 550000},   {"मुझे पिज़्ज़ा और", "hi", 1100000},
        {"mera order lekin", "hi", 1100000}, {"He said \"no.\"", "en", 550000},
        {"well, tomorrow,", "en", 1100000},  {"quiero una mesa con", "es", 1100000},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct endpoint endpoint;
        endpoint_init(&endpoint, 500000, 550000, rows[i].iso);
        if (!CHECK_INT(wait_after(&endpoint, rows[i].text), rows[i].wait_us))
            fprintf(stderr, "      %s\n", rows[i].text);
        endpoint_clear(&endpoint);
    }
}

TEST(a_missing_full_stop_counts_where_the_recogniser_writes_them)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    CHECK_INT(wait_after(&endpoint, "what time is it"), 550000);
    endpoint_reset(&endpoint, true);
    CHECK_INT(wait_after(&endpoint, "What time is it?"), 550000);
    endpoint_reset(&endpoint, true);
    CHECK_INT(wait_after(&endpoint, "what time is it"), 1100000);
    endpoint_clear(&endpoint);
}

TEST(the_recognisers_own_end_of_turn_is_believed)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    endpoint_voice_started(&endpoint, 1000000);
    hear(&endpoint, STT_PARTIAL, "I would like to", 1500000);
    hear(&endpoint, STT_ENDPOINT, NULL, 2100000); /* after the voice, before we have seen its end */
    endpoint_voice_stopped(&endpoint, 2000000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 2550000);
    endpoint_reset(&endpoint, true);
    endpoint_voice_started(&endpoint, 5000000); /* what it said of the last turn is over */
    hear(&endpoint, STT_PARTIAL, "I would like to", 5500000);
    endpoint_voice_stopped(&endpoint, 6000000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 8500000);
    hear(&endpoint, STT_ENDPOINT, NULL, 6300000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 6550000);
    endpoint_clear(&endpoint);
}

TEST(a_recogniser_that_tells_ends_is_waited_for_until_it_misses_one)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    CHECK_INT(wait_after(&endpoint, "tea please"), 550000);
    hear(&endpoint, STT_ENDPOINT, NULL, 2300000);
    endpoint_reset(&endpoint, true);
    CHECK_INT(wait_after(&endpoint, "tea please"), 1100000);
    endpoint_reset(&endpoint, true);
    CHECK_INT(wait_after(&endpoint, "tea please"), 550000);
    endpoint_clear(&endpoint);
}

TEST(words_that_are_plainly_whole_end_a_turn_sooner_where_the_pauses_are_the_usual_ones)
{
    static const struct {
        const char *text, *iso;
        int64_t quick_us, wait_us;
    } rows[] = {
        {"What time is it?", "en", 300000, 550000},
        {"Thank you.", "en", 300000, 550000},
        {"what time is it", "en", 450000, 550000},
        {"We will be four people.", "en", 450000, 550000},
        {"Yes.", "en", 550000, 550000},
        {"We will be four people", "en", 550000, 550000},
        {"मुझे पिज़्ज़ा चाहिए।", "hi", 450000, 550000},
        {"kal shaam ko diya tha", "hi", 450000, 550000},
        {"¿Cuánto cuesta?", "es", 300000, 550000},
        {"Je voudrais une table.", "fr", 450000, 550000},
        {"I would like to", "en", 1100000, 1100000},
        {"my number is nine eight", "en", 1700000, 1700000},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct endpoint quick, strict;
        endpoint_init(&quick, 500000, 550000, rows[i].iso);
        endpoint_quicken(&quick);
        endpoint_init(&strict, 500000, 550000, rows[i].iso);
        if (!CHECK_INT(wait_after(&quick, rows[i].text), rows[i].quick_us) ||
            !CHECK_INT(wait_after(&strict, rows[i].text), rows[i].wait_us))
            fprintf(stderr, "      %s\n", rows[i].text);
        endpoint_clear(&quick);
        endpoint_clear(&strict);
    }
}

TEST(words_that_the_recogniser_still_owes_are_waited_for)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    endpoint_quicken(&endpoint);
    endpoint_voice_started(&endpoint, 1000000);
    hear(&endpoint, STT_PARTIAL, "What time is it?", 1900000);
    endpoint_voice_stopped(&endpoint, 2000000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 2000000 + ENDPOINT_CAP_US);
    hear(&endpoint, STT_FLUSHED, NULL, 2200000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 2300000);
    endpoint_clear(&endpoint);
}

TEST(an_end_that_the_recogniser_tells_is_taken_sooner_too)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    endpoint_quicken(&endpoint);
    endpoint_voice_started(&endpoint, 1000000);
    hear(&endpoint, STT_PARTIAL, "I would like to", 1500000);
    endpoint_voice_stopped(&endpoint, 2000000);
    hear(&endpoint, STT_ENDPOINT, NULL, 2210000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 2300000);
    endpoint_clear(&endpoint);
}

TEST(a_caller_who_pauses_within_sentences_is_given_more_in_them)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    endpoint_quicken(&endpoint);
    CHECK_INT(wait_after(&endpoint, "I would like to"), 1100000);
    endpoint_voice_started(&endpoint, 3000000); /* 1,000 ms later they go on */
    endpoint_voice_stopped(&endpoint, 4000000);
    hear(&endpoint, STT_FINAL, "book a table for", 4100000);
    hear(&endpoint, STT_FLUSHED, NULL, 4100000);
    CHECK_INT(endpoint_deadline_us(&endpoint), 4000000 + 1000000 + 150000);
    endpoint_reset(&endpoint, true);
    CHECK_INT(wait_after(&endpoint, "We will be four people."),
              450000); /* a whole one is another */
    endpoint_clear(&endpoint);
}

TEST(a_caller_who_still_speaks_owes_no_flush)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    endpoint_voice_started(&endpoint, 1000000);
    CHECK_INT(endpoint_again(&endpoint, 1500000), 0);
    uint32_t gen = endpoint_voice_stopped(&endpoint, 2000000);
    CHECK(gen > 0);
    CHECK_INT(endpoint_again(&endpoint, 2100000), gen + 1);
    endpoint_clear(&endpoint);
}

TEST(a_pause_behind_a_word_of_one_letter_counts)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    (void)wait_after(&endpoint, "I");
    endpoint_voice_started(&endpoint, 2900000); /* 900 ms later they go on */
    CHECK(endpoint.whole.pause_us + endpoint.goes_on.pause_us == 900000);
    endpoint_clear(&endpoint);
}

TEST(a_caller_who_pauses_behind_whole_words_is_given_more_behind_those)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 500000, 550000, "en");
    CHECK_INT(wait_after(&endpoint, "tea please"), 550000);
    endpoint_learn_pause(&endpoint, 900000); /* taken, and they went on */
    endpoint_reset(&endpoint, true);
    CHECK_INT(wait_after(&endpoint, "tea please"), 1050000);
    for (int turn = 0; turn < 8; turn++) { /* who speaks without pauses has less to wait */
        endpoint_reset(&endpoint, true);
        CHECK(wait_after(&endpoint, "tea please") <= 1050000);
    }
    CHECK_INT(wait_after(&endpoint, "tea please"), 550000);
    CHECK_INT(wait_after(&endpoint, "tea for"), 1100000);
    endpoint_reset(&endpoint, true);
    endpoint_learn_pause(&endpoint, 2400000);
    endpoint_learn_pause(&endpoint, 2400000);
    CHECK_INT(wait_after(&endpoint, "tea please"), 1150000); /* at most so much more */
    endpoint_clear(&endpoint);
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

TEST(unsure_words_add_up_and_go_with_the_turn)
{
    struct endpoint endpoint;
    endpoint_init(&endpoint, 300000, 1000000, "en");
    endpoint_voice_started(&endpoint, 0);
    struct stt_event first = {.kind = STT_FINAL, .text = "a beard rim", .unsure = "rim"};
    struct stt_event second = {.kind = STT_FINAL, .text = "for men"};
    struct stt_event third = {.kind = STT_FINAL, .text = "on sun day", .unsure = "sun day"};
    CHECK_TEXT(endpoint_unsure(&endpoint), "");
    endpoint_heard(&endpoint, &first, 1000);
    endpoint_heard(&endpoint, &second, 2000);
    endpoint_heard(&endpoint, &third, 3000);
    CHECK_TEXT(endpoint_text(&endpoint), "a beard rim for men on sun day");
    CHECK_TEXT(endpoint_unsure(&endpoint), "rim sun day");
    endpoint_reset(&endpoint, true);
    CHECK_TEXT(endpoint_unsure(&endpoint), "");
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
