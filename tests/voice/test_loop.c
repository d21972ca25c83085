/* One turn without a call around it: a question is spoken, sent as Opus over a lossy line, heard,
 * answered from a page and spoken again. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "hotel.h"
#include "line.h"
#include "rig.h"
#include "test.h"

enum { LOSS_EVERY = 20, PASSAGES_MAX = 8 };

static const struct tts_config slt = {
    .language = "en", .speaker = "slt", .emotion = "", .model = "", .speed = 1, .volume = 1};

struct answer {
    struct speech_rig *rig;
    char text[512];
};

static void on_llm(void *arg, const struct llm_event *event)
{
    struct answer *answer = arg;
    size_t len = strlen(answer->text);
    if (event->kind == LLM_TEXT)
        snprintf(answer->text + len, sizeof(answer->text) - len, "%s", event->text);
    if (event->kind == LLM_DONE)
        loop_stop(answer->rig->loop);
}

/* The page's parts are the passages, each as good as the others: the model must choose. */
static void ask(struct speech_rig *rig, const char *question, struct answer *out)
{
    struct llm_passage passages[PASSAGES_MAX];
    AUTO_MEM char *page = mem_strdup(hotel_document);
    size_t count = 0;
    for (char *rest = page, *line; count < PASSAGES_MAX && (line = strsep(&rest, "\n"));)
        if (*line)
            passages[count++] = (struct llm_passage){.text = line, .similarity = 0.4};
    struct llm_message message = {.role = LLM_USER, .text = question};
    struct llm_request request = {.messages = &message,
                                  .message_count = 1,
                                  .passages = passages,
                                  .passage_count = count,
                                  .language = "en"};
    const struct engine *engine = registry_find(rig->registry, ENGINE_LLM, "extractive");
    *out = (struct answer){.rig = rig};
    struct llm *llm =
        engine->ops.llm->open(engine, &(struct llm_config){""}, rig->loop, on_llm, out);
    llm->ops->start(llm, 1, &request);
    loop_run(rig->loop);
    llm->ops->close(llm);
}

TEST(loop_answers_a_spoken_question_aloud)
{
    static const struct {
        const char *speaker, *question;
        const char *word; /* one that the answer must have */
    } rows[] = {
        {"slt", "What time is breakfast on Sunday?", "weekend"},
        {"slt", "When can I check in?", "check-in"},
        {"rms", "Until what time is the front desk open?", "11 pm"},
        {"slt", "Can I bring my cat?", "information"},
    };
    struct speech_rig rig;
    struct heard heard;
    speech_rig_open(&rig);
    struct stt *stt = speech_rig_listen(&rig, hotel_document, &heard);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct said said;
        struct carried carried;
        struct answer answer;
        said_by(rows[i].speaker, rows[i].question, &said);
        line_carry(&said, LOSS_EVERY, &carried);
        said_clear(&said);
        CHECK(carried.starts >= 1 && carried.starts == carried.stops);
        speech_rig_hear_16k(&rig, stt, (const int16_t *)(void *)carried.heard.data,
                            carried.heard.len / sizeof(int16_t), &heard);
        ask(&rig, heard.text, &answer);
        if (!CHECK(strcasestr(answer.text, rows[i].word) != NULL))
            fprintf(stderr, "      %s -> %s -> %s\n", rows[i].question, heard.text, answer.text);
        if (i == 1) { /* one is enough: it takes as long as its words */
            struct spoken spoken;
            speech_rig_speak(&rig, "flite", &slt, answer.text, &spoken);
            CHECK(spoken.error == ENGINE_OK && spoken.count > 48000);
            mem_free(spoken.samples);
        }
        carried_clear(&carried);
    }
    stt->ops->close(stt);
    speech_rig_close(&rig);
}
