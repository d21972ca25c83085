/* Who has finished, and who only says 'go on': acknowledgements and stop words in every language,
 * clauses that go on, callers who pause, recognisers that see the end of a turn. */
#include <stdio.h>
#include <string.h>

#include "model/language.h"
#include "test.h"
#include "text/phrase.h"
#include "world.h"

static char answer_text[2000];

static const char *say_answer(const struct llm_request *request)
{
    (void)request;
    return answer_text;
}

/* Some ten seconds in the language. */
static void write_answer(const char *iso)
{
    size_t len = 0;
    for (enum phrase phrase = PHRASE_GREETING; len < 150 && phrase < PHRASE_COUNT; phrase++)
        len += (size_t)snprintf(answer_text + len, sizeof(answer_text) - len, "%s%s",
                                len ? " " : "", phrase_line(phrase, iso));
    for (size_t at = 0; len < 150; at++)
        len += (size_t)snprintf(answer_text + len, sizeof(answer_text) - len, " %s",
                                phrase_line(PHRASE_UNKNOWN, iso));
}

static struct sim_caller *into_answer(struct world *world, const char *language, const char *iso)
{
    struct world_call call;
    world_begin(world, RICH_USD4);
    world_defaults(&call);
    call.language = language;
    write_answer(iso);
    sim_engines.has_partials = true;
    sim_engines.reply = say_answer;
    sim_engines.utterances[0] = "1";
    struct sim_caller *caller = world_talk(world, &call);
    if (!caller)
        return NULL;
    sim_speak(caller, 800);
    world_run(3000);
    return caller;
}

static const struct {
    const char *iso, *acknowledge, *stop;
} words[] = {
#define TURN_WORDS(iso, acknowledge, stop) {iso, acknowledge, stop},
#include "text/turn_words.def"
#undef TURN_WORDS
};

static const char *first_of(const char *list, char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int)strcspn(list, ","), list);
    return out;
}

TEST(acknowledgements_never_cut_and_stop_words_always_do_in_every_language)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        WORLD world;
        char go_on[64], stop[64];
        const struct language *language = language_by_iso(words[i].iso);
        REQUIRE(language != NULL);
        struct sim_caller *caller = into_answer(&world, language->id, words[i].iso);
        REQUIRE(caller != NULL);
        sim_engines.utterances[1] = first_of(words[i].acknowledge, go_on, sizeof(go_on));
        sim_engines.utterances[2] = first_of(words[i].stop, stop, sizeof(stop));
        sim_speak(caller, 800);
        world_run(2500);
        bool goes_on = sim_loud(caller, world_ms() - 500, world_ms()) >= 24;
        bool is_uncut = sim_told_count("transcript.assistant") == 0;
        sim_speak(caller, 800);
        world_run(1000);
        bool is_cut = sim_told_count("transcript.assistant") == 1;
        CHECK_INT(world_end_call(&world, "c1"), OK);
        bool is_counted = sim_store_row("c1")->interruptions == 1 &&
                          sim_store_row("c1")->false_interruptions == 1;
        if (!goes_on || !is_uncut || !is_cut || !is_counted)
            test_fail(__FILE__, __LINE__, "%s: goes on %d, uncut %d, cut %d, counted %d",
                      words[i].iso, goes_on, is_uncut, is_cut, is_counted);
    }
}

TEST(an_acknowledgement_loses_no_sample_of_the_answer)
{
    WORLD world;
    struct sim_caller *caller = into_answer(&world, "en", "en");
    REQUIRE(caller != NULL);
    sim_engines.utterances[1] = "uh huh, okay";
    sim_speak(caller, 800);
    world_run(30000);
    int spaces = 0; /* between two sentences there is no sound */
    for (const char *at = answer_text; (at = strpbrk(at, ".?!")); at++)
        spaces += at[1] == ' ';
    int loud = sim_loud(caller, 0, world_ms());
    int want = ((int)strlen(answer_text) - spaces) * SIM_CHAR_SAMPLES / 960;
    CHECK(loud >= want - 6 && loud <= want + 6); /* a frame at each sentence's end */
    CHECK_INT(sim_engines.llm_starts, 1);
}

/* What the model was asked, and how often, after a first part, a pause and a second part. */
static struct sim_caller *speak_in_two(struct world *world, const char *first, int pause_ms,
                                       const char *second)
{
    struct world_call call;
    world_begin(world, RICH_USD4);
    world_defaults(&call);
    sim_engines.stt_us = 50000;
    sim_engines.utterances[0] = first;
    sim_engines.utterances[1] = second;
    struct sim_caller *caller = world_talk(world, &call);
    if (!caller)
        return NULL;
    sim_speak(caller, 1000);
    world_run(1000 + pause_ms);
    sim_speak(caller, 1000);
    world_run(8000);
    return caller;
}

TEST(a_clause_that_goes_on_is_waited_for)
{
    static const struct {
        const char *first, *second;
        int pause_ms, turns;
    } rows[] = {
        {"I want tea", "with milk", 900, 2},
        {"I want tea and", "milk", 900, 1},
        {"my number is nine eight seven", "six five four", 1450, 1},
        {"my name is S M I", "T H", 1450, 1},
        {"I want tea and", "milk", 1450, 2}, /* nobody is waited for so long without a reason */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        WORLD world;
        REQUIRE(speak_in_two(&world, rows[i].first, rows[i].pause_ms, rows[i].second) != NULL);
        if (!CHECK_INT(sim_told_count("transcript.user"), rows[i].turns))
            fprintf(stderr, "      %s ... %s\n", rows[i].first, rows[i].second);
    }
}

TEST(a_caller_who_pauses_within_turns_is_not_cut_off_at_the_next)
{
    WORLD world;
    struct sim_caller *caller = speak_in_two(&world, "I want tea and", 800, "milk");
    REQUIRE(caller != NULL);
    CHECK_INT(sim_told_count("transcript.user"), 1);
    sim_engines.utterances[2] = "I live in the old town";
    sim_engines.utterances[3] = "behind the church";
    sim_speak(caller, 1000);
    world_run(1000 + 800);
    sim_speak(caller, 1000);
    world_run(8000);
    CHECK_INT(sim_told_count("transcript.user"), 2);
    CHECK(sim_told("I live in the old town behind the church"));
}

/* From the end of the voice to the first sound of the answer, in ms. */
static int64_t answer_delay_ms(bool tells_end)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.tells_end = tells_end;
    sim_engines.utterances[0] = "I would like to";
    struct sim_caller *caller = world_talk(&world, &call);
    if (!caller)
        return -1;
    sim_speak(caller, 1000);
    int64_t end_ms = world_ms() + 1000;
    world_run(6000);
    return sim_first_loud_ms(caller, end_ms) - end_ms;
}

enum { LAG_MS = 43 }; /* the network, the jitter buffer, and frames that end later than the voice */

/* From the end of the voice to the turn of the transcript, in ms. */
static int64_t taken_after_ms(const char *iso, const char *text)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.stt_us = 50000;
    sim_engines.utterances[0] = text;
    call.language = language_by_iso(iso)->id;
    struct sim_caller *caller = world_talk(&world, &call);
    if (!caller)
        return -1;
    sim_speak(caller, 1000);
    int64_t end_ms = world_ms() + 1000;
    world_run(6000);
    return sim_told("transcript.user") ? sim_told_ms("transcript.user") - end_ms - LAG_MS : -1;
}

TEST(whole_words_end_a_turn_sooner_and_others_as_before)
{
    static const struct {
        const char *iso, *text;
        int64_t want_ms;
    } rows[] = {
        {"en", "What time is it?", 300},
        {"en", "We will be four people.", 450},
        {"en", "what time is it", 450},
        {"en", "four people", 550},
        {"en", "Yes.", 550},
        {"en", "We will be four and", 1100},
        {"hi", "आप कब खुलते हैं?", 300},
        {"hi", "मैंने कल फ़ोन किया था।", 450},
        {"hi", "mera order abhi tak nahi aaya hai", 450},
        {"hi", "mera order aaya lekin", 1100},
        {"es", "¿A qué hora abren?", 300},
        {"es", "Quería cambiar mi cita.", 450},
        {"es", "quería una mesa con", 1100},
        {"fr", "Vous ouvrez quand ?", 300},
        {"fr", "Je voudrais une table.", 450},
        {"fr", "je voudrais une table pour", 1100},
        {"de", "Wann öffnen Sie?", 300},
        {"de", "Ich komme gegen zehn.", 450},
        {"de", "ich hätte gern einen", 1100},
        {"it", "Quando aprite?", 300},
        {"it", "Vorrei un tavolo.", 450},
        {"it", "vorrei un tavolo ma", 1100},
        {"pt", "Qual é o prazo?", 300},
        {"pt", "Queria uma mesa.", 450},
        {"pt", "queria uma mesa com", 1100},
        {"nl", "Hoe laat is het?", 300},
        {"nl", "Ik kom om tien uur.", 450},
        {"nl", "ik wil graag een", 1100},
        {"pl", "Ile to kosztuje?", 300},
        {"pl", "Przyjdę o dziesiątej rano.", 450},
        {"pl", "chciałbym stolik i", 1100},
        {"ru", "Сколько это стоит?", 300},
        {"ru", "Я приду в десять.", 450},
        {"ru", "я хочу столик и", 1100},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t got_ms = taken_after_ms(rows[i].iso, rows[i].text);
        if (got_ms != rows[i].want_ms)
            test_fail(__FILE__, __LINE__, "%s: %s: %lld ms, not %lld", rows[i].iso, rows[i].text,
                      (long long)got_ms, (long long)rows[i].want_ms);
    }
}

TEST(a_caller_who_goes_on_behind_a_whole_sentence_is_waited_for_the_next_time)
{
    WORLD world;
    struct sim_caller *caller =
        speak_in_two(&world, "I have a big problem.", 600, "It is my bill.");
    REQUIRE(caller != NULL);
    CHECK_INT(sim_told_count("transcript.user"), 2); /* cut, before anything was answered */
    CHECK_INT(sim_told_count("transcript.assistant"), 1);
    sim_engines.utterances[2] = "I live in the old town.";
    sim_engines.utterances[3] = "It is behind the church.";
    sim_speak(caller, 1000);
    world_run(1000 + 600);
    sim_speak(caller, 1000);
    world_run(8000);
    CHECK_INT(sim_told_count("transcript.user"), 3);
    CHECK(sim_told("I live in the old town. It is behind the church."));
}

TEST(the_recognisers_own_end_of_turn_is_used)
{
    int64_t with_ms = answer_delay_ms(true), without_ms = answer_delay_ms(false);
    CHECK(with_ms > 0);
    CHECK(without_ms - with_ms >= 520 && without_ms - with_ms <= 820); /* 1,100 and 300 ms */
}

TEST(a_backchannel_while_the_agent_thinks_does_not_restart_it)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.has_partials = true;
    sim_engines.llm_us = 4000000;
    sim_engines.utterances[0] = "what do you have today";
    sim_engines.utterances[1] = "hmm";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 1000);
    int64_t end_ms = world_ms() + 1000;
    world_run(2500);
    sim_speak(caller, 800);
    world_run(8000);
    CHECK_INT(sim_engines.llm_starts, 1);
    CHECK_INT(sim_engines.llm_cancels, 0);
    CHECK(sim_told("transcript.assistant This is the answer."));
    /* The model was asked early, in the pause: 200 ms and the recogniser's 120 after the voice. */
    int64_t heard_ms = sim_first_loud_ms(caller, end_ms) - end_ms;
    CHECK(heard_ms >= 4300 && heard_ms <= 4600);
}
