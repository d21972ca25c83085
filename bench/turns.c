/* When a turn is taken, against how often it is cut: talk/endpoint.h beside the fixed rule (so much
 * silence, whatever was said). Scripted callers who hesitate, in English, Hindi, Hinglish, German
 * and Spanish; a recogniser that tells its words 120 ms after it is asked, which is 200 ms into a
 * pause. Each caller's turns are one conversation, so that pauses are learned as in a call. Prints
 * a line for each setting: false cuts of the pauses within turns, and the delay after the end of
 * the voice at which whole turns were taken. No argument. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "engine/stt.h"
#include "talk/endpoint.h"

enum {
    PARTS_MAX = 5,
    TURNS_MAX = 6,
    CHAR_US = 1000000 / 15,
    NOTICED_US = 200 * 1000, /* a pause, by the voice detector */
    HEARD_US = 120 * 1000,   /* the words, after that */
    STEP_US = 10 * 1000,
    DELAYS_MAX = 256,
};

struct part {
    const char *words;
    int pause_ms; /* before the next part; 0: the turn is over */
};

static const struct caller {
    const char *iso;
    struct part turns[TURNS_MAX][PARTS_MAX];
} callers[] = {
    {"en",
     {{{"Hi, I would like to book a table for", 620}, {"Saturday evening.", 0}},
      {{"We will be four people.", 0}},
      {{"Around seven or", 560}, {"maybe half past seven.", 0}},
      {{"Yes, that works.", 0}},
      {{"My name is", 780}, {"Eleanor Whitfield.", 0}}}},
    {"en",
     {{{"I ordered a lamp last week and", 700}, {"it never came.", 0}},
      {{"The number is", 600}, {"four four seven", 520}, {"nine one two", 540}, {"six.", 0}},
      {{"No, that is all.", 0}},
      {{"Can you send it to my office instead?", 0}}}},
    {"en",
     {{{"What are your opening hours?", 0}},
      {{"And on Sundays?", 0}},
      {{"Okay, then I will come on", 850}, {"Monday morning.", 0}},
      {{"Thank you very much.", 0}}}},
    {"en",
     {{{"I have a problem with my bill.", 540}, {"It is much higher than last month.", 0}},
      {{"It says ninety two pounds.", 0}},
      {{"I think", 640}, {"we were on holiday then.", 0}},
      {{"Could you check whether", 580}, {"the meter was read?", 0}}}},
    {"hi",
     {{{"मुझे कल के लिए", 640}, {"एक अपॉइंटमेंट चाहिए।", 0}},
      {{"शाम को पाँच बजे।", 0}},
      {{"मेरा नंबर है", 620}, {"नौ आठ सात", 560}, {"छह पाँच चार", 0}},
      {{"नहीं, और कुछ नहीं।", 0}}}},
    {"hi",
     {{{"mera order abhi tak nahi aaya aur", 700}, {"paise bhi kat gaye", 0}},
      {{"kal shaam ko diya tha", 0}},
      {{"address same hai lekin", 620}, {"phone number change ho gaya", 0}},
      {{"theek hai", 0}}}},
    {"de",
     {{{"Guten Tag, ich wollte fragen ob", 680}, {"Sie morgen geöffnet haben.", 0}},
      {{"Dann komme ich mit", 600}, {"meiner Tochter vorbei.", 0}},
      {{"Gegen zehn Uhr.", 0}},
      {{"Vielen Dank.", 0}}}},
    {"es",
     {{{"Hola, quería cambiar mi cita para", 660}, {"el jueves.", 0}},
      {{"Por la mañana si puede ser.", 0}},
      {{"Mi apellido es", 720}, {"Echeverría.", 0}},
      {{"Nada más, gracias.", 0}}}},
};

struct result {
    int pauses, cuts, turns;
    int64_t delays_us[DELAYS_MAX];
};

static void tell(struct endpoint *endpoint, enum stt_event_kind kind, uint32_t gen,
                 const char *text, int64_t now_us)
{
    const struct stt_event event = {.kind = kind, .gen = gen, .text = text};
    (void)endpoint_heard(endpoint, &event, now_us);
}

/* One part of a turn and the silence after it. The delay at which the turn was taken; -1: it was
 * not, within its pause. */
static int64_t say(struct endpoint *endpoint, const struct part *part, int64_t *now_us)
{
    endpoint_voice_started(endpoint, *now_us);
    int64_t end_us = *now_us + (int64_t)strlen(part->words) * CHAR_US;
    int64_t until_us = part->pause_ms ? end_us + part->pause_ms * 1000LL : INT64_MAX;
    uint32_t gen = 0;
    bool is_told = false;
    for (*now_us = end_us; *now_us < until_us; *now_us += STEP_US) {
        if (!gen && *now_us >= end_us + NOTICED_US)
            gen = endpoint_voice_stopped(endpoint, end_us);
        if (gen && !is_told && *now_us >= end_us + NOTICED_US + HEARD_US) {
            tell(endpoint, STT_FINAL, 0, part->words, *now_us);
            tell(endpoint, STT_FLUSHED, gen, NULL, *now_us);
            is_told = true;
        }
        if (gen && endpoint_verdict(endpoint, *now_us) == ENDPOINT_COMMIT) {
            int64_t delay_us = *now_us - end_us;
            endpoint_reset(endpoint, true);
            *now_us = MAX(until_us == INT64_MAX ? *now_us + 3000000 : until_us, *now_us);
            return delay_us;
        }
    }
    return -1;
}

static void count(struct result *result, const struct part *part, int64_t delay_us)
{
    bool is_within = part->pause_ms > 0;
    result->pauses += is_within;
    result->cuts += is_within && delay_us >= 0;
    if (!is_within && result->turns < DELAYS_MAX)
        result->delays_us[result->turns++] = delay_us;
}

static void run_endpoint(int64_t least_us, struct result *result)
{
    for (size_t c = 0; c < ARRAY_LEN(callers); c++) {
        struct endpoint endpoint;
        int64_t now_us = 1000000;
        endpoint_init(&endpoint, least_us, least_us, callers[c].iso);
        for (size_t t = 0; t < TURNS_MAX; t++)
            for (size_t p = 0; p < PARTS_MAX && callers[c].turns[t][p].words; p++)
                count(result, &callers[c].turns[t][p],
                      say(&endpoint, &callers[c].turns[t][p], &now_us));
        endpoint_clear(&endpoint);
    }
}

static void run_fixed(int64_t silence_us, struct result *result)
{
    for (size_t c = 0; c < ARRAY_LEN(callers); c++)
        for (size_t t = 0; t < TURNS_MAX; t++)
            for (size_t p = 0; p < PARTS_MAX && callers[c].turns[t][p].words; p++) {
                const struct part *part = &callers[c].turns[t][p];
                bool is_cut = !part->pause_ms || part->pause_ms * 1000LL > silence_us;
                count(result, part, is_cut ? silence_us : -1);
            }
}

static int by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void print(const char *name, int64_t setting_us, struct result *result)
{
    int64_t sum_us = 0;
    qsort(result->delays_us, (size_t)result->turns, sizeof(int64_t), by_size);
    for (int i = 0; i < result->turns; i++)
        sum_us += result->delays_us[i];
    printf("%-10s %5" PRId64 " ms  cut %2d of %2d pauses  taken after: mean %4" PRId64
           ", median %4" PRId64 ", p95 %4" PRId64 " ms  (%d turns)\n",
           name, setting_us / 1000, result->cuts, result->pauses,
           sum_us / MAX(result->turns, 1) / 1000, result->delays_us[result->turns / 2] / 1000,
           result->delays_us[result->turns * 95 / 100] / 1000, result->turns);
}

int main(void)
{
    static const int settings_ms[] = {250, 300, 350, 400, 450, 500, 550, 600, 700, 800, 900};
    for (size_t i = 0; i < ARRAY_LEN(settings_ms); i++) {
        struct result fixed = {0};
        run_fixed(settings_ms[i] * 1000LL, &fixed);
        print("fixed", settings_ms[i] * 1000LL, &fixed);
    }
    for (size_t i = 0; i < ARRAY_LEN(settings_ms); i++) {
        struct result own = {0};
        run_endpoint(settings_ms[i] * 1000LL, &own);
        print("endpoint", settings_ms[i] * 1000LL, &own);
    }
    return EXIT_SUCCESS;
}
