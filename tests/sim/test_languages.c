/* The rules of languages in whole calls: what is listened for, what is spoken, what the model is
 * told, and what becomes of words in a script that the call does not speak. */
#include <string.h>

#include "base/attr.h"
#include "model/language.h"
#include "test.h"
#include "world.h"

enum { LINE_MS = 9000 /* until the longest line here has been said */ };

static const char *reply_text;

static const char *say_reply(const struct llm_request *request)
{
    (void)request;
    return reply_text;
}

/* A call whose agent is saved with the languages of voice and recognition; it has been answered
 * once. sent: NULL where the call names none. */
static struct sim_caller *converse(struct world *world, struct world_call *call, const char *sent)
{
    call->language = sent ? sent : call->agent.voice.language;
    call->is_language_sent = sent != NULL;
    sim_engines.utterances[0] = "hello there";
    struct sim_caller *caller = world_talk(world, call);
    if (!caller)
        return NULL;
    if (sim_engines.said[0]) /* a greeting */
        world_run(LINE_MS);
    sim_speak(caller, 1000);
    world_run(LINE_MS);
    return caller;
}

TEST(a_call_listens_and_speaks_as_its_language_says)
{
    static const struct {
        const char *voice, *stt, *sent;               /* as saved, and as the call was started */
        const char *heard, *hints, *spoken, *is_told; /* is_told: the model */
    } rows[] = {
        /* Left out: as the agent is saved. */
        {"en", "en", NULL, "en", "", "en", "Speak English.\n"},
        {"hi", "hi", NULL, "hi", "en", "hi", "Speak Hindi.\nWrite Hindi in Devanagari"},
        {"hinglish", "hi", NULL, "hi", "en", "hi", "Speak Hinglish.\nWrite Hindi in Devanagari"},
        {"ta", "ta", NULL, "ta", "en", "ta", "Speak Tamil.\n"},
        {"de", "de", NULL, "de", "en", "de", "Speak German.\n"},
        /* Another one: that, the agent's own and English. */
        {"en", "en", "hi", "hi", "en", "hi", "Speak Hindi. This holds even where"},
        {"en", "en", "hinglish", "hi", "en", "hi", "Speak Hinglish. This holds even where"},
        {"hi", "hi", "en", "en", "hi", "en", "Speak English. This holds even where"},
        {"hi", "hi", "ta", "ta", "hi en", "ta", "understand them, and answer in Tamil."},
        {"de", "de", "fr", "fr", "de en", "fr", "Speak French. This holds even where"},
        /* Punjabi and Odia are spoken, and listened for as Hindi and English. */
        {"pa", "pa", NULL, "hi", "en", "pa", "Speak Punjabi.\nWrite Punjabi in Gurmukhi."},
        {"en", "en", "pa", "hi", "en", "pa", "answer in Punjabi."},
        {"en", "en", "or", "hi", "en", "or", "answer in Odia."},
        {"or", "or", "en", "en", "hi", "en", "answer in English."},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        WORLD_WITH_CALL(world, call);
        call.agent.system_instruction = "Speak Klingon.";
        call.agent.voice.language = rows[i].voice;
        call.agent.stt.language = rows[i].stt;
        REQUIRE(converse(&world, &call, rows[i].sent) != NULL);
        CHECK_TEXT(sim_engines.stt_language, rows[i].heard);
        CHECK_TEXT(sim_engines.stt_hints, rows[i].hints);
        CHECK_TEXT(sim_engines.tts_language, rows[i].spoken);
        CHECK(strstr(sim_engines.last_request, rows[i].is_told) != NULL);
        CHECK_INT(strstr(sim_engines.last_request, "This holds even") != NULL,
                  rows[i].sent != NULL);
        CHECK(!sim_told("call.error"));
    }
}

TEST(a_prompt_of_the_call_must_name_the_language_itself)
{
    WORLD_WITH_CALL(world, call);
    call.start.config.prompt.system = "Sprich Deutsch.";
    REQUIRE(converse(&world, &call, "de") != NULL);
    CHECK(strncmp(sim_engines.last_request, "S:Sprich Deutsch.\n", 18) == 0);
    CHECK(strstr(sim_engines.last_request, "German") == NULL);
    CHECK_TEXT(sim_engines.stt_language, "de");
    CHECK_TEXT(sim_engines.tts_language, "de");
}

TEST(nothing_is_translated)
{
    WORLD_WITH_CALL(world, call);
    call.agent.greeting_mode = GREETING_STATIC;
    call.agent.greeting_text = "Welcome to the desk.";
    REQUIRE(converse(&world, &call, "ta") != NULL);
    CHECK(strstr(sim_engines.said, "Welcome to the desk.\n") == sim_engines.said);
    CHECK(sim_told("transcript.assistant Welcome to the desk."));
}

static bool is_first_of_its_script(const struct language *language)
{
    const struct language *first = language_table;
    while (strcmp(first->script, language->script) != 0)
        first++;
    return first == language;
}

TEST(each_script_is_spoken_by_its_language)
{
    for (size_t i = 0; i < language_count; i++) {
        if (!is_first_of_its_script(&language_table[i]))
            continue;
        WORLD_WITH_CALL(world, call);
        call.agent.greeting_mode = GREETING_STATIC;
        call.agent.greeting_text = language_table[i].sample;
        call.language = language_table[i].id;
        call.is_language_sent = true;
        REQUIRE(world_talk(&world, &call) != NULL);
        world_run(LINE_MS);
        CHECK(sim_told("transcript.assistant"));
        CHECK_INT(sim_told_count("call.error"), 0);
    }
}

/* A language of each script beside one of another: its words are never said, which is told once. */
TEST(words_in_a_script_that_the_call_does_not_speak_are_not_said_and_told_once)
{
    for (size_t i = 0; i < language_count; i++) {
        const struct language *language = &language_table[i];
        if (!is_first_of_its_script(language))
            continue;
        const struct language *other =
            language_by_id(strcmp(language->script, "Taml") ? "ta" : "hi");
        WORLD_WITH_CALL(world, call);
        call.agent.greeting_mode = GREETING_STATIC;
        call.agent.greeting_text = other->sample;
        sim_engines.reply = say_reply;
        reply_text = other->sample;
        struct sim_caller *caller = converse(&world, &call, language->id);
        REQUIRE(caller != NULL);
        sim_engines.utterances[1] = "and now";
        reply_text = language->sample;
        sim_speak(caller, 1000);
        world_run(LINE_MS + 3000);
        CHECK(strstr(sim_engines.said, other->sample) == NULL);
        CHECK_INT(sim_told_count("call.error speech "), 1);
        CHECK_INT(sim_told_count("call.error"), 1);
        CHECK(sim_told(language->sample)); /* the call carries on */
    }
}

/* Hinglish, names and signs are of two scripts: what is mostly in one that is spoken is said. */
TEST(a_few_words_in_another_script_are_said)
{
    static const struct {
        const char *language, *reply;
    } rows[] = {
        {"hi", "आपका order ready है।"},
        {"hinglish", "Aapka order ready hai."},
        {"ta", "Order number 12."},
        {"en", "The word is नमस्ते in Hindi, and it means hello."},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        WORLD_WITH_CALL(world, call);
        sim_engines.reply = say_reply;
        reply_text = rows[i].reply;
        REQUIRE(converse(&world, &call, rows[i].language) != NULL);
        CHECK(sim_told(rows[i].reply));
        CHECK_INT(sim_told_count("call.error"), 0);
    }
}

/* The voice gets words, marks and emoji never; who reads the transcript sees what was written. */
TEST(a_voice_gets_words_and_the_transcript_keeps_what_was_written)
{
    static const struct {
        const char *language, *reply, *said, *written;
    } rows[] = {
        {"en", "It is **$12.50** at 14:30 \xf0\x9f\x8e\x89.",
         "It is twelve dollars fifty cents at two thirty P M.\n", "It is $12.50 at 14:30."},
        {"en", "Write to asha@shop.test on 2026-03-05.",
         "Write to asha at shop dot test on the fifth of March, twenty twenty-six.\n",
         "Write to asha@shop.test on 2026-03-05."},
        {"hi", "बिल ₹2,50,000 है।", "बिल दो लाख पचास हज़ार रुपये है।\n", "बिल ₹2,50,000 है।"},
        {"hinglish", "Bill ₹2,50,000 hai.", "Bill two lakh fifty thousand rupees hai.\n",
         "Bill ₹2,50,000 hai."},
        {"de", "Das kostet 12,50 €.", "Das kostet zwölf Euro fünfzig Cent.\n",
         "Das kostet 12,50 €."},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        WORLD_WITH_CALL(world, call);
        sim_engines.reply = say_reply;
        reply_text = rows[i].reply;
        REQUIRE(converse(&world, &call, rows[i].language) != NULL);
        CHECK_TEXT(sim_engines.said, rows[i].said);
        CHECK(sim_told(rows[i].written));
    }
}
