/* When a turn is taken, against how often it is cut: talk/endpoint.h beside the fixed rule (so much
 * silence, whatever was said). The callers of turns.def hesitate where it says so; how long is
 * drawn (log-normal, the median of pauses within turns in recorded conversations, each caller a
 * tempo of its own), the same draws for both rules. The recogniser tells its words 120 ms after it
 * is asked, which is 200 ms into a pause; it writes marks, or none, or a full stop at each pause.
 * Each caller's turns are one conversation, so that pauses are learned as in a call. Prints, of
 * half the callers, false cuts and delays, the fixed rule that cuts as often, and delays by kind.
 * Argument: tuned (the half that rules are made on) or held (the other); none: both. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "engine/stt.h"
#include "talk/endpoint.h"

enum {
    ROUNDS = 40,
    PARTS_MAX = 6,
    WORDS_SIZE = 256,
    CHAR_US = 1000000 / 15,
    NOTICED_US = 200 * 1000, /* a pause, by the voice detector */
    HEARD_US = 120 * 1000,   /* the words, after that */
    ANSWER_US = 300 * 1000,  /* until the agent is heard: who goes on before that was cut */
    BETWEEN_US = 3000 * 1000,
    STEP_US = 10 * 1000,
    FIXED_US = 500 * 1000,
    PAUSE_MEDIAN_US = 500 * 1000,
    PAUSE_MIN_US = 200 * 1000, /* shorter ones no detector sees */
    PAUSE_MOST_US = 2000 * 1000,
};
static const double PAUSE_SPREAD = 0.55, TEMPO_SPREAD = 0.25; /* of the logarithm */

enum kind { QUESTION, STATEMENT, ANSWER, NUMBER, NAME, KINDS };
static const char *const kind_names[] = {"question", "statement", "short answer", "number", "name"};

enum style { MARKS, PLAIN, STOPS, STYLES };
static const char *const style_names[] = {"writes marks", "writes none", "a stop at each pause"};

static const struct turn {
    const char *iso;
    int caller;
    enum kind kind;
    const char *words;
} turns[] = {
#define TURN(iso, caller, kind, words) {iso, caller, kind, words},
#include "turns.def"
#undef TURN
};

/* One rule's fate on one half. */
struct result {
    size_t pauses, cuts, inner_pauses, inner_cuts; /* inner: within a sentence */
    size_t taken;
    int64_t *delays_us, *pauses_us; /* of turns; of pauses within turns */
    size_t kind_taken[KINDS];
    int64_t kind_us[KINDS];
};

static uint64_t random_state;

static double random_unit(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / (double)(UINT64_C(1) << 53);
}

static double random_normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_unit();
    return sum;
}

static int64_t draw_pause_us(double tempo)
{
    double pause_us = PAUSE_MEDIAN_US * exp(tempo + PAUSE_SPREAD * random_normal());
    return MAX(PAUSE_MIN_US, MIN((int64_t)pause_us, PAUSE_MOST_US));
}

static bool ends_sentence(const char *words)
{
    return strchr(".?!", words[strlen(words) - 1]) || strstr(words, "।");
}

/* The words as this recogniser writes them. */
static void write_words(const char *from, size_t len, enum style style, char *out)
{
    size_t at = 0;
    for (size_t i = 0; i < len && at < WORDS_SIZE - 4; i++) {
        bool is_danda = strncmp(from + i, "।", 3) == 0;
        if (style == PLAIN && (is_danda || strchr(".,?!¿;:", from[i]))) {
            i += is_danda ? 2 : 0;
            continue;
        }
        bool is_capital = style == PLAIN && from[i] >= 'A' && from[i] <= 'Z';
        out[at++] = is_capital ? (char)(from[i] + 'a' - 'A') : from[i];
    }
    while (at > 0 && (out[at - 1] == ' ' || (style == STOPS && out[at - 1] == ',')))
        at--;
    out[at] = 0;
    if (style == STOPS && !ends_sentence(out))
        memcpy(out + at, ".", 2);
}

static void tell(struct endpoint *endpoint, enum stt_event_kind kind, uint32_t gen,
                 const char *text, int64_t now_us)
{
    const struct stt_event event = {.kind = kind, .gen = gen, .text = text};
    (void)endpoint_heard(endpoint, &event, now_us);
}

/* One part of a turn and the silence after it. The delay at which the turn was taken; -1: it was
 * not, within its pause. */
static int64_t say(struct endpoint *endpoint, const char *words, int64_t pause_us, int64_t *now_us)
{
    endpoint_voice_started(endpoint, *now_us);
    int64_t end_us = *now_us + (int64_t)strlen(words) * CHAR_US;
    uint32_t gen = 0;
    bool is_told = false;
    for (*now_us = end_us; *now_us < end_us + pause_us; *now_us += STEP_US) {
        if (!gen && *now_us >= end_us + NOTICED_US)
            gen = endpoint_voice_stopped(endpoint, end_us);
        if (gen && !is_told && *now_us >= end_us + NOTICED_US + HEARD_US) {
            tell(endpoint, STT_FINAL, 0, words, *now_us);
            tell(endpoint, STT_FLUSHED, gen, NULL, *now_us);
            is_told = true;
        }
        if (gen && endpoint_verdict(endpoint, *now_us) == ENDPOINT_COMMIT) {
            int64_t delay_us = *now_us - end_us;
            endpoint_reset(endpoint, true);
            *now_us = end_us + pause_us;
            if (pause_us < delay_us + ANSWER_US)
                endpoint_learn_pause(endpoint, pause_us);
            return delay_us;
        }
    }
    return -1;
}

static void count_pause(struct result *result, int64_t pause_us, bool is_inner, bool is_cut)
{
    result->pauses_us[result->pauses++] = pause_us;
    result->cuts += is_cut;
    result->inner_pauses += is_inner;
    result->inner_cuts += is_inner && is_cut;
}

static void count_turn(struct result *result, enum kind kind, int64_t delay_us)
{
    result->delays_us[result->taken++] = delay_us;
    result->kind_taken[kind]++;
    result->kind_us[kind] += delay_us;
}

/* A turn, part by part. endpoint NULL: the fixed rule. */
static void run_turn(struct endpoint *endpoint, const struct turn *turn, enum style style,
                     double tempo, int64_t *now_us, struct result *result)
{
    const char *at = turn->words;
    for (;;) {
        char words[WORDS_SIZE];
        size_t len = strcspn(at, "|");
        bool is_last = !at[len];
        at += strspn(at, " ");
        write_words(at, strcspn(at, "|"), style, words);
        int64_t pause_us = is_last ? BETWEEN_US : draw_pause_us(tempo);
        int64_t taken_us = FIXED_US < pause_us ? FIXED_US : -1;
        if (endpoint)
            taken_us = say(endpoint, words, pause_us, now_us);
        if (is_last) {
            count_turn(result, turn->kind, taken_us);
            return;
        }
        char as_written[WORDS_SIZE];
        write_words(at, strcspn(at, "|"), MARKS, as_written);
        count_pause(result, pause_us, !ends_sentence(as_written), taken_us >= 0);
        at += strcspn(at, "|") + 1;
    }
}

static bool is_same_caller(size_t a, size_t b)
{
    return turns[a].caller == turns[b].caller && strcmp(turns[a].iso, turns[b].iso) == 0;
}

static void run_round(int half, enum style style, bool is_fixed, struct result *result)
{
    struct endpoint endpoint = {0};
    double tempo = 0;
    int64_t now_us = 1000000;
    for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
        if (i == 0 || !is_same_caller(i, i - 1)) {
            endpoint_clear(&endpoint);
            endpoint_init(&endpoint, 500000, 550000, turns[i].iso);
            endpoint_quicken(&endpoint);
            tempo = TEMPO_SPREAD * random_normal();
        }
        if (turns[i].caller % 2 == half)
            run_turn(is_fixed ? NULL : &endpoint, &turns[i], style, tempo, &now_us, result);
    }
    endpoint_clear(&endpoint);
}

static void run(int half, enum style style, bool is_fixed, struct result *result)
{
    size_t most = ROUNDS * ARRAY_LEN(turns) * PARTS_MAX;
    *result = (struct result){.delays_us = mem_new_n(int64_t, most),
                              .pauses_us = mem_new_n(int64_t, most)};
    random_state = 20261122;
    for (int round = 0; round < ROUNDS; round++)
        run_round(half, style, is_fixed, result);
}

static void result_clear(struct result *result)
{
    mem_free(result->delays_us);
    mem_free(result->pauses_us);
}

static int by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t mean_us(const struct result *result)
{
    int64_t sum_us = 0;
    for (size_t i = 0; i < result->taken; i++)
        sum_us += result->delays_us[i];
    return sum_us / (int64_t)result->taken;
}

/* The least silence by which the fixed rule cuts no more of these pauses. */
static int64_t fixed_alike_us(struct result *result)
{
    qsort(result->pauses_us, result->pauses, sizeof(int64_t), by_size);
    size_t kept = result->pauses - result->cuts;
    return kept > 0 ? result->pauses_us[kept - 1] : 0;
}

static double percent(size_t part, size_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print(const char *name, struct result *result)
{
    size_t outer = result->pauses - result->inner_pauses;
    int64_t own_us = mean_us(result), alike_us = fixed_alike_us(result);
    qsort(result->delays_us, result->taken, sizeof(int64_t), by_size);
    printf(
        "  %-21s cut %4.1f %% (in a sentence %4.1f, behind one %4.1f)  taken after: mean %4" PRId64
        ", median %4" PRId64 ", p95 %4" PRId64 " ms  fixed rule as often: %4" PRId64
        " ms, %+" PRId64 "\n",
        name, percent(result->cuts, result->pauses),
        percent(result->inner_cuts, result->inner_pauses),
        percent(result->cuts - result->inner_cuts, outer), own_us / 1000,
        result->delays_us[result->taken / 2] / 1000,
        result->delays_us[result->taken * 95 / 100] / 1000, alike_us / 1000,
        (own_us - alike_us) / 1000);
}

static void print_kinds(const struct result *result)
{
    printf("  %-21s", "  mean by kind:");
    for (int kind = 0; kind < KINDS; kind++)
        if (result->kind_taken[kind])
            printf(" %s %" PRId64, kind_names[kind],
                   result->kind_us[kind] / (int64_t)result->kind_taken[kind] / 1000);
    printf("\n");
}

static void print_half(int half)
{
    struct result result;
    run(half, MARKS, true, &result);
    printf("%s: %zu pauses and %zu turns, in %d rounds\n", half ? "held out" : "tuned",
           result.pauses, result.taken, ROUNDS);
    print("fixed 500 ms", &result);
    result_clear(&result);
    for (enum style style = MARKS; style < STYLES; style++) {
        run(half, style, false, &result);
        print(style_names[style], &result);
        print_kinds(&result);
        result_clear(&result);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "held") != 0)
        print_half(0);
    if (argc < 2 || strcmp(argv[1], "tuned") != 0)
        print_half(1);
    return EXIT_SUCCESS;
}
