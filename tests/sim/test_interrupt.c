/* Interruptions at random moments of a voice whose words can be counted: the transcript has what
 * the caller heard, word for word, and the agent is silent at once. EARSHOT_INTERRUPTIONS says how
 * many, EARSHOT_SEED which. */
#include <stdio.h>
#include <stdlib.h>

#include "audio/frame.h"
#include "test.h"
#include "world.h"

#define WORLD __attribute__((cleanup(world_end))) struct world

enum {
    STANDARD = 120, /* some seconds */
    OF_A_CALL = 8,
    TAIL = 3, /* frames of silence behind speech */
    LATEST_MS = 2500,
    SAID_MS = 700,
    SETTLED_MS = 1150, /* the turn is told, the next answer is not yet heard */
    TEXT_SIZE = 1024,
};

static const char *const sentences[] = {
    "We begin with mornings.", "Evenings come after.",  "There are long weekends.",
    "Prices go down for two.", "The garden is behind.", "News of the harbour.",
};

static const char *say_all(const struct llm_request *request)
{
    static char text[TEXT_SIZE];
    (void)request;
    text[0] = '\0';
    for (size_t i = 0, len = 0; i < ARRAY_LEN(sentences); i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "", sentences[i]);
    return text;
}

/* What was heard. */

static size_t total_of(const char *sentence)
{
    return sim_samples(strlen(sentence), sim_engines.has_packets);
}

/* Of a sentence, so many samples: a word counts when its middle was heard. */
static void add_heard(char *out, const char *sentence, size_t samples)
{
    size_t cut = 0, len = strlen(sentence), total = total_of(sentence);
    for (size_t at = 0; at < len;) {
        size_t end = at + strcspn(sentence + at, " .");
        if ((at + end) * total > samples * 2 * len)
            break;
        cut = end;
        at = end + strspn(sentence + end, " .");
    }
    if (samples >= total)
        cut = len;
    if (cut > 0)
        snprintf(out + strlen(out), TEXT_SIZE - strlen(out), "%s%.*s", *out ? " " : "", (int)cut,
                 sentence);
}

static void words_of(size_t frames, char *out)
{
    size_t samples = frames * AUDIO_OUT_SAMPLES;
    out[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(sentences) && samples > 0; i++) {
        add_heard(out, sentences[i], samples);
        samples -= MIN(samples, total_of(sentences[i]));
    }
}

static const char *last_turn(char *out)
{
    static const char mark[] = " transcript.assistant ";
    const char *found = NULL;
    for (const char *at = sim_store.events.data; at && (at = strstr(at, mark)); at++)
        found = at + sizeof(mark) - 1;
    snprintf(out, TEXT_SIZE, "%.*s", found ? (int)strcspn(found, "\n[") : 0, found ? found : "");
    out[strlen(out) - (*out != '\0')] = '\0'; /* a space before the call's name */
    return out;
}

/* When the agent was first shown to listen after a moment; -1: never. */
static int64_t listens_ms(const struct sim_caller *caller, int64_t from_ms)
{
    for (const char *at = sim_lines(caller); at && *at; at = strchr(at, '\n')) {
        at += *at == '\n';
        int64_t ms = strtoll(at, NULL, 10);
        size_t len = strcspn(at, "\n");
        const char *state = strstr(at, " state listening");
        if (ms >= from_ms && state && state < at + len)
            return ms;
        if (!at[len])
            return -1;
    }
    return -1;
}

/* Rounds. */

struct tally {
    uint64_t random;
    int rounds;
    int silent_ms[4096]; /* from the decision to the last frame of speech, at the caller */
    int onset_ms[4096];  /* from the caller's first sound to it */
};

static int64_t up_to(struct tally *tally, int64_t most)
{
    tally->random = tally->random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int64_t)(tally->random >> 33) % (most + 1);
}

static size_t frames_of(const struct sim_caller *caller)
{
    size_t count;
    sim_frames(caller, &count);
    return count;
}

static bool interrupt(struct tally *tally, struct sim_caller *caller)
{
    size_t before = frames_of(caller);
    int turns = sim_told_count("transcript.assistant");
    for (int i = 0; i < 250 && frames_of(caller) == before; i++)
        world_run(20);
    world_run(up_to(tally, LATEST_MS));
    int64_t from_ms = world_ms();
    sim_speak(caller, SAID_MS);
    world_run(SETTLED_MS);
    size_t count, heard = frames_of(caller) - before;
    const struct sim_frame *frames = sim_frames(caller, &count);
    if (heard <= TAIL)
        return false;
    heard -= TAIL;
    char expected[TEXT_SIZE], told[TEXT_SIZE];
    words_of(heard, expected);
    int has_turn = sim_told_count("transcript.assistant") - turns;
    last_turn(told);
    CHECK_INT(has_turn, *expected ? 1 : 0);
    if (*expected)
        CHECK_TEXT(told, expected);
    int64_t last_ms = frames[before + heard - 1].at_us / 1000;
    int64_t decided_ms = listens_ms(caller, from_ms);
    CHECK(decided_ms >= from_ms);
    int place = tally->rounds++ % (int)ARRAY_LEN(tally->silent_ms);
    tally->silent_ms[place] = (int)(last_ms - decided_ms);
    tally->onset_ms[place] = (int)(last_ms - from_ms);
    return has_turn == (*expected ? 1 : 0) && (!*expected || strcmp(told, expected) == 0);
}

static bool interrupt_a_call(struct tally *tally, int wanted, bool has_packets)
{
    WORLD world;
    struct world_call call;
    world_begin(&world, 1000000);
    world_defaults(&call);
    for (int i = 0; i < SIM_UTTERANCES; i++)
        sim_engines.utterances[i] = "tell me something else";
    sim_engines.reply = say_all;
    sim_engines.has_packets = has_packets;
    struct sim_caller *caller = world_talk(&world, &call);
    bool is_right = caller != NULL;
    if (is_right)
        sim_speak(caller, SAID_MS);
    world_run(SETTLED_MS);
    for (int i = 0; is_right && i < OF_A_CALL && tally->rounds < wanted; i++)
        is_right = interrupt(tally, caller);
    return is_right;
}

static int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int p99(int *figures, int count)
{
    qsort(figures, (size_t)count, sizeof(*figures), by_size);
    return figures[(count * 99 + 99) / 100 - 1];
}

static void interrupt_many(bool has_packets)
{
    const char *many = getenv("EARSHOT_INTERRUPTIONS"), *seed = getenv("EARSHOT_SEED");
    int wanted = many ? atoi(many) : STANDARD;
    struct tally *tally = calloc(1, sizeof(*tally));
    REQUIRE(tally != NULL);
    tally->random = seed ? strtoull(seed, NULL, 10) : 20261122;
    while (tally->rounds < wanted && interrupt_a_call(tally, wanted, has_packets))
        ;
    CHECK_INT(tally->rounds, wanted);
    int count = MIN(tally->rounds, (int)ARRAY_LEN(tally->silent_ms));
    if (count > 0) {
        int decided = p99(tally->silent_ms, count), onset = p99(tally->onset_ms, count);
        printf("     %d interruptions: last speech %d ms after the decision, %d ms after the "
               "caller's first sound (p99)\n",
               tally->rounds, decided, onset);
        CHECK(decided <= 60);
    }
    free(tally);
}

TEST(an_interrupted_answer_is_told_as_it_was_heard)
{
    interrupt_many(false);
}

TEST(an_interrupted_answer_of_relayed_packets_is_told_as_it_was_heard)
{
    interrupt_many(true);
}
