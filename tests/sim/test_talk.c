/* What the caller hears and when: greeting, answers, interruptions. */
#include "test.h"
#include "tool/run.h"
#include "world.h"

static const char long_answer[] = "One two three four five six seven eight nine ten eleven twelve "
                                  "thirteen fourteen fifteen sixteen. And this comes much later.";

static const char *say_long(const struct llm_request *request)
{
    (void)request;
    return long_answer;
}

static const char *say_short(const struct llm_request *request)
{
    (void)request;
    return "Of course I can.";
}

TEST(static_greeting_is_heard_as_the_caller_joins)
{
    WORLD_WITH_CALL(world, call);
    call.agent.greeting_mode = GREETING_STATIC;
    call.agent.greeting_text = "Welcome to the desk.";
    REQUIRE(world_call(&world, &call) == OK);
    struct sim_caller *caller = sim_caller("r1");
    world_run(3000); /* alone in the room: the greeting waits */
    size_t count;
    sim_frames(caller, &count);
    CHECK_INT(count, 0);
    int64_t joined_ms = world_ms();
    sim_join(caller);
    world_run(4000);
    CHECK(sim_first_loud_ms(caller, 0) - joined_ms <= 20 + 20); /* network and a frame */
    int loud = sim_loud(caller, 0, world_ms());
    CHECK(loud >= 66 && loud <= 69); /* 20 characters at 15 a second, in frames of 20 ms */
    CHECK(sim_told("transcript.assistant Welcome to the desk."));
    CHECK_TEXT(sim_agent_words(caller), "Welcome to the desk.");
}

static int loud_of(const char *room)
{
    return sim_loud(sim_caller(room), 0, world_ms());
}

TEST(a_greeting_is_voiced_and_encoded_once_for_all_calls)
{
    WORLD_WITH_CALL(world, call);
    call.agent.greeting_mode = GREETING_STATIC;
    call.agent.greeting_text = "Welcome to the desk. How can I help you?";
    sim_engines.has_partials = true;
    sim_engines.utterances[0] = "stop";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 1500); /* cuts it: half a line is not kept */
    world_run(4000);
    int asked = sim_engines.tts_speaks;
    sim_engines.utterances[1] = NULL;
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(6000);
    CHECK_INT(sim_engines.tts_speaks, asked + 2); /* voiced again, and recorded */
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(6000);
    CHECK_INT(sim_engines.tts_speaks, asked + 2);
    CHECK(loud_of("r3") >= loud_of("r2") - 1 && loud_of("r3") <= loud_of("r2") + 1);
    CHECK_INT(sim_told_count("transcript.assistant Welcome to the desk. How can I help you?"), 2);
    call.agent.voice.speed = 1.2; /* another sound */
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(6000);
    CHECK_INT(sim_engines.tts_speaks, asked + 4);
}

TEST(frames_are_paced_one_each_20_ms_with_media_time)
{
    WORLD_WITH_CALL(world, call);
    call.agent.greeting_mode = GREETING_STATIC;
    call.agent.greeting_text = "Welcome to the desk, how can I help you today?";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    world_run(6000);
    size_t count;
    const struct sim_frame *frames = sim_frames(caller, &count);
    REQUIRE(count > 100);
    /* A little silence after the speech, so that no ear conceals; then nothing is sent. */
    CHECK(!frames[count - 1].is_loud && !frames[count - 2].is_loud);
    CHECK(frames[count - 5].is_loud);
    CHECK(world_ms() * 1000 - frames[count - 1].at_us > 1000000);
    CHECK(frames[0].is_first);
    for (size_t i = 1; i < count; i++) {
        CHECK_INT(frames[i].timestamp - frames[i - 1].timestamp, 960);
        CHECK(!frames[i].is_first);
        int64_t gap_us = frames[i].at_us - frames[i - 1].at_us;
        CHECK(i == 1 ? gap_us <= 20000 : gap_us >= 18000 && gap_us <= 22000);
    }
}

TEST(a_question_is_answered_within_endpoint_and_engines)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "what time is it";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    int64_t spoken_ms = world_ms() + 1000;
    sim_speak(caller, 1000);
    world_run(6000);
    CHECK(sim_told("transcript.user what time is it"));
    CHECK(sim_told("transcript.assistant This is the answer."));
    /* 550 ms of silence end the turn; recogniser and model worked meanwhile; then the voice. */
    int64_t heard_ms = sim_first_loud_ms(caller, spoken_ms);
    CHECK(heard_ms - spoken_ms >= 550 + 80);
    CHECK(heard_ms - spoken_ms <= 550 + 80 + 2 * 20 + 60);
    CHECK_INT(sim_engines.llm_starts, 1);
    /* The recogniser gets the second of voice, what was just before it, and the pause. */
    CHECK(sim_engines.stt_samples >= 16 * 1000 && sim_engines.stt_samples <= 16 * 1700);
    CHECK(strstr(sim_lines(caller), "caller final what time is it") != NULL);
    CHECK(strstr(sim_lines(caller), "state thinking") != NULL);
}

static struct sim_caller *into_long_answer(struct world *world, struct world_call *call)
{
    sim_engines.utterances[0] = "count please";
    sim_engines.reply = say_long;
    struct sim_caller *caller = world_talk(world, call);
    if (!caller)
        return NULL;
    sim_speak(caller, 800);
    world_run(4000);
    return caller;
}

TEST(the_agent_is_silent_within_100_ms_of_the_callers_voice)
{
    WORLD_WITH_CALL(world, call);
    struct sim_caller *caller = into_long_answer(&world, &call);
    REQUIRE(caller != NULL);
    sim_engines.has_partials = true;
    sim_engines.utterances[1] = "stop please";
    sim_engines.reply = say_short;
    CHECK(sim_loud(caller, world_ms() - 200, world_ms()) >= 9);
    int64_t from_ms = world_ms();
    sim_speak(caller, 1000);
    world_run(7000);
    /* 60 ms of voice are the least speech of the detector; 20 ms of network each way. */
    int64_t silent_ms = sim_last_loud_ms(caller, from_ms + 1000);
    CHECK(silent_ms - from_ms <= 60 + 100 + 2 * 20);
    CHECK(sim_told("transcript.assistant One two three"));
    CHECK(!sim_told("And this comes"));
    CHECK(!sim_told("sixteen"));
    CHECK(sim_told("transcript.user stop please"));
    CHECK(sim_told("transcript.assistant Of course I can."));
    CHECK(strstr(sim_engines.last_request, "sixteen") == NULL);
    CHECK_INT(world_end_call(&world, "c1"), OK);
    CHECK_INT(sim_store_row("c1")->interruptions, 1);
}

TEST(what_was_told_is_what_was_heard)
{
    WORLD_WITH_CALL(world, call);
    struct sim_caller *caller = into_long_answer(&world, &call);
    REQUIRE(caller != NULL);
    sim_engines.has_partials = true;
    sim_engines.utterances[1] = "stop please";
    sim_speak(caller, 1000);
    world_run(1500);
    /* Audio of the answer, in characters at 15 a second; its words end within one word of that. */
    int heard_chars = sim_loud(caller, 0, world_ms()) * 15 / 50;
    const char *told = strstr(sim_store.events.data, "transcript.assistant ");
    REQUIRE(told != NULL);
    int told_chars = (int)(strstr(told, " [c1]") - told) - (int)strlen("transcript.assistant ");
    CHECK(told_chars <= heard_chars + 8 && told_chars >= heard_chars - 9);
}

TEST(a_cough_only_pauses_and_no_sample_is_lost)
{
    WORLD_WITH_CALL(world, call);
    struct sim_caller *caller = into_long_answer(&world, &call);
    REQUIRE(caller != NULL);
    sim_engines.utterances[1] = ""; /* sound without words */
    sim_speak(caller, 200);
    world_run(1000);
    CHECK(sim_loud(caller, world_ms() - 400, world_ms() - 200) == 0);
    world_run(15000);
    CHECK(sim_told("sixteen. And this comes much later."));
    int loud = sim_loud(caller, 0, world_ms());
    int want = (int)(sizeof(long_answer) - 2) * SIM_CHAR_SAMPLES / 960; /* one space is no sound */
    CHECK(loud >= want - 3 && loud <= want + 3);
    CHECK_INT(sim_engines.tts_speaks, 2);
    CHECK_INT(world_end_call(&world, "c1"), OK);
    CHECK_INT(sim_store_row("c1")->false_interruptions, 1);
    CHECK_INT(sim_store_row("c1")->interruptions, 0);
}

TEST(an_early_answer_is_thrown_away_unheard)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.llm_us = 50000;
    sim_engines.stt_us = 20000;
    sim_engines.utterances[0] = "I want to order";
    sim_engines.utterances[1] = "two pizzas";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 800);
    world_run(800 + 400); /* a pause: long enough to ask early, too short to end the turn */
    CHECK_INT(sim_engines.llm_starts, 1);
    CHECK_INT(sim_engines.tts_speaks, 0);
    sim_speak(caller, 800);
    world_run(6000);
    CHECK_INT(sim_engines.llm_starts, 2);
    CHECK_INT(sim_told_count("transcript.user"), 1);
    CHECK(sim_told("transcript.user I want to order two pizzas"));
    CHECK_INT(sim_told_count("transcript.assistant"), 1);
}

TEST(with_interruption_off_the_agent_is_never_silent_in_between)
{
    WORLD_WITH_CALL(world, call);
    call.start.config.turn.interruption.is_enabled = false;
    struct sim_caller *caller = into_long_answer(&world, &call);
    REQUIRE(caller != NULL);
    sim_engines.utterances[1] = "may I ask something";
    sim_engines.reply = say_short;
    int64_t from_ms = world_ms();
    sim_speak(caller, 1000);
    world_run(2000);
    CHECK_INT(sim_loud(caller, from_ms, from_ms + 2000), 100);
    world_run(15000);
    CHECK(sim_told("And this comes much later."));
    CHECK(sim_told("transcript.user may I ask something"));
    CHECK(sim_told("transcript.assistant Of course I can."));
}

TEST(steady_noise_does_not_silence_the_agent_for_good)
{
    WORLD_WITH_CALL(world, call);
    struct sim_caller *caller = into_long_answer(&world, &call);
    REQUIRE(caller != NULL);
    sim_noise(caller, 20000);
    world_run(20000);
    CHECK(sim_told("And this comes much later."));
    CHECK_INT(sim_told_count("transcript.user"), 1);
}

TEST(say_is_heard_at_once_and_recorded)
{
    WORLD_WITH_CALL(world, call);
    struct sim_caller *caller = into_long_answer(&world, &call);
    REQUIRE(caller != NULL);
    int64_t said_ms = world_ms();
    CHECK_INT(world_say(&world, "c1", "The shop closes now."), OK);
    world_run(4000);
    CHECK(sim_told("transcript.assistant The shop closes now."));
    CHECK(!sim_told("And this comes"));
    /* The old voice stops, the new one comes after its 80 ms. */
    CHECK(sim_first_loud_ms(caller, said_ms + 60) - said_ms <= 80 + 60);
    CHECK_INT(world_say(&world, "c9", "Nobody hears this."), ERR_NOT_FOUND);
}

TEST(say_waits_for_a_caller_who_has_not_joined)
{
    WORLD_WITH_CALL(world, call);
    REQUIRE(world_call(&world, &call) == OK);
    CHECK_INT(world_say(&world, "c1", "Thank you for waiting."), OK);
    world_run(5000);
    CHECK(!sim_told("transcript.assistant"));
    sim_join(sim_caller("r1"));
    world_run(4000);
    CHECK(sim_told("transcript.assistant Thank you for waiting."));
}

TEST(lost_packets_do_not_lose_the_turn)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "what time is it";
    REQUIRE(world_call(&world, &call) == OK);
    struct sim_caller *caller = sim_caller("r1");
    *sim_network(caller) = (struct sim_network){60000, 50000, 10, false};
    sim_join(caller);
    world_run(500);
    sim_speak(caller, 1500);
    world_run(7000);
    CHECK_INT(sim_told_count("transcript.user what time is it"), 1);
    CHECK(sim_told("transcript.assistant This is the answer."));
    CHECK_INT(world_end_call(&world, "c1"), OK);
}

TEST(packets_that_stop_in_mid_voice_do_not_end_the_turn)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "what time is it";
    sim_engines.utterances[1] = "a second turn";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 2500);
    world_run(1000);
    sim_network(caller)->is_cut = true;
    world_run(900);
    CHECK(!sim_told("transcript.user"));
    sim_network(caller)->is_cut = false;
    world_run(5000);
    CHECK_INT(sim_told_count("transcript.user"), 1);
    CHECK_INT(sim_told_count("transcript.assistant"), 1);
}

TEST(a_caller_who_mutes_in_mid_voice_is_answered_in_time)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "what time is it";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 5000);
    world_run(1000);
    sim_mute(caller);
    int64_t muted_ms = world_ms();
    world_run(5000);
    CHECK(sim_told("transcript.assistant This is the answer."));
    CHECK(sim_told_ms("transcript.user") - muted_ms <= 550 + 200);
}

TEST(passages_and_tools_answer)
{
    WORLD_WITH_CALL(world, call);
    const char *ids[] = {"kd_1"};
    struct tool tool = {.id = "tool_1",
                        .name = "order_status",
                        .description = "Where an order is",
                        .sample_output = "",
                        .kind = TOOL_DURING_CALL};
    call.agent.document_ids = (struct text_list){ids, 1};
    call.agent.tools = (struct tool_list){&tool, 1};
    world_passage = "We open at nine.";
    world_tool_us = 1000000;
    world_tool_result.model_text = "{\"status\":\"shipped\"}";
    sim_engines.utterances[0] = "where is my order";
    sim_engines.tool = "order_status";
    sim_engines.tool_arguments = "{\"id\":\"7\"}";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 1000);
    world_run(9000);
    CHECK(strstr(sim_engines.last_request, "We open at nine.") != NULL);
    CHECK(strstr(sim_engines.last_request, "T:{\"status\":\"shipped\"}") != NULL);
    /* One turn: the holding line, and the answer after it. */
    CHECK_INT(sim_told_count("transcript.assistant"), 1);
    CHECK(sim_told(" This is the answer. [c1]"));
}

TEST(the_language_changes_with_the_caller)
{
    WORLD_WITH_CALL(world, call);
    call.agent.system_tools.change_language = true;
    sim_engines.utterances[0] = "hindi please";
    sim_engines.tool = "changeLanguage";
    sim_engines.tool_arguments = "{\"language\":\"hi\"}";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 1000);
    world_run(6000);
    CHECK_INT(sim_engines.stt_opens, 2);
    CHECK_TEXT(sim_engines.stt_language, "hi");
    CHECK_TEXT(sim_engines.tts_language, "hi");
    CHECK(strstr(sim_engines.last_request, "T:Done: from now on speak Hindi") != NULL);
    CHECK(sim_told("transcript.assistant This is the answer."));
    CHECK(!sim_told("call.error"));
}

/* The recogniser that heard it is closed before it has answered. */
TEST(what_the_caller_says_as_the_language_changes_is_heard)
{
    WORLD_WITH_CALL(world, call);
    call.agent.system_tools.change_language = true;
    sim_engines.stt_us = 400000;
    sim_engines.llm_us = 2000000;
    sim_engines.utterances[0] = "can we speak hindi";
    sim_engines.utterances[1] = "when do you open";
    sim_engines.tool = "changeLanguage";
    sim_engines.tool_arguments = "{\"language\":\"hi\"}";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 1000);
    while (!sim_told("transcript.user can we speak hindi"))
        world_run(20);
    world_run(600);
    sim_speak(caller, 800);
    world_run(10000);
    CHECK_TEXT(sim_engines.stt_language, "hi");
    CHECK(sim_told("transcript.user when do you open"));
}

TEST(all_languages_of_the_call_are_heard_after_a_change)
{
    WORLD_WITH_CALL(world, call);
    call.agent.system_tools.change_language = true;
    call.agent.stt.language = "mr";
    call.language = "ta";
    call.is_language_sent = true;
    sim_engines.utterances[0] = "hindi please";
    sim_engines.tool = "changeLanguage";
    sim_engines.tool_arguments = "{\"language\":\"hi\"}";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    CHECK_TEXT(sim_engines.stt_language, "ta");
    CHECK_TEXT(sim_engines.stt_hints, "mr en");
    sim_speak(caller, 1000);
    world_run(6000);
    CHECK_TEXT(sim_engines.stt_language, "hi");
    CHECK_TEXT(sim_engines.stt_hints, "ta mr en");
    sim_engines.utterances[sim_engines.next_utterance] = "english please";
    sim_engines.tool = "changeLanguage";
    sim_engines.tool_arguments = "{\"language\":\"en\"}";
    sim_speak(caller, 1000);
    world_run(6000);
    CHECK_TEXT(sim_engines.stt_language, "en");
    CHECK_TEXT(sim_engines.stt_hints, "hi ta mr");
}

TEST(a_before_call_tool_is_in_the_instructions)
{
    WORLD_WITH_CALL(world, call);
    struct tool tool = {
        .id = "tool_1", .name = "account", .sample_output = "", .kind = TOOL_BEFORE_CALL};
    call.agent.tools = (struct tool_list){&tool, 1};
    world_tool_us = 2000000;
    world_tool_result.model_text = "gold member";
    int64_t from_ms = world_ms();
    sim_engines.utterances[0] = "hello there";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    CHECK(world_ms() - from_ms >= 2500); /* not set up before it has answered */
    CHECK(world_ms() - from_ms < 6000);  /* nor long after it */
    sim_speak(caller, 1000);
    world_run(4000);
    CHECK(strstr(sim_engines.last_request, "account: gold member") != NULL);
}

TEST(a_before_call_tool_has_thirty_seconds)
{
    WORLD_WITH_CALL(world, call);
    struct tool tool = {
        .id = "tool_1", .name = "account", .sample_output = "", .kind = TOOL_BEFORE_CALL};
    call.agent.tools = (struct tool_list){&tool, 1};
    world_tool_us = 60000000;
    int64_t from_ms = world_ms();
    CHECK_INT(world_call(&world, &call), OK);
    CHECK(world_ms() - from_ms >= 30000 && world_ms() - from_ms <= 30100);
}

/* A caller who comes back on another connection begins with a silent line and no half utterance. */
TEST(a_caller_cut_in_mid_voice_is_heard_anew_after_the_return)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "this is cut";
    sim_engines.utterances[1] = "and this is heard";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 5000);
    world_run(1000);
    sim_refuse(caller);
    world_run(3000);
    CHECK_INT((long long)sim_engines.next_utterance, 1); /* the recogniser owes nothing */
    sim_return(caller);
    world_run(100);
    sim_speak(caller, 1000);
    world_run(6000);
    CHECK_INT((long long)sim_engines.next_utterance, 2);
    CHECK(!sim_told("transcript.user this is cut"));
    CHECK(sim_told("transcript.user and this is heard"));
}
