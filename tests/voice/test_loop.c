/* One turn without a call around it: a question is spoken, sent as Opus over a lossy line, heard,
 * answered from a page and spoken again. */
#include <stdio.h>
#include <string.h>

#include "audio/codec.h"
#include "audio/inlet.h"
#include "audio/vad.h"
#include "base/attr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "hotel.h"
#include "rig.h"
#include "test.h"

enum { LOSS_EVERY = 20, TAIL_FRAMES = 40, PASSAGES_MAX = 8 };

static const struct tts_config slt = {
    .language = "en", .speaker = "slt", .emotion = "", .model = "", .speed = 1, .volume = 1};

/* What the line lets through, as the detector hands it on: prefix and speech. */
struct ear {
    struct inlet *inlet;
    struct vad *vad;
    struct buf heard; /* 16 kHz samples */
    int starts, stops;
    bool is_on;
};

static void hear(struct ear *ear, int64_t now_us)
{
    struct audio_frame frame;
    struct vad_result result;
    while (inlet_output(ear->inlet, now_us, &frame)) {
        vad_input(ear->vad, &frame, &result);
        ear->starts += result.change == VAD_STARTED;
        ear->stops += result.change == VAD_STOPPED;
        if (result.change == VAD_STARTED) {
            int16_t prefix[16000];
            size_t count = vad_prefix(ear->vad, prefix, 16000);
            (void)buf_append(&ear->heard, prefix, count * sizeof(*prefix));
        } else if (result.is_speaking) {
            (void)buf_append(&ear->heard, frame.samples, sizeof(frame.samples));
        }
    }
}

/* Half a second of a quiet room before, the words, silence behind. */
static void send(struct ear *ear, const struct spoken *spoken)
{
    AUTO(codec_encoder) encoder = codec_encoder_new(CODEC_VOIP);
    uint8_t packet[CODEC_PACKET_MAX_BYTES];
    size_t frames = 25 + spoken->count / AUDIO_OUT_SAMPLES;
    codec_encoder_set_loss(encoder, 100 / LOSS_EVERY);
    for (size_t i = 0; i < frames + TAIL_FRAMES; i++) {
        int16_t frame[AUDIO_OUT_SAMPLES] = {0};
        if (i >= 25 && i < frames)
            memcpy(frame, spoken->samples + (i - 25) * AUDIO_OUT_SAMPLES, sizeof(frame));
        size_t len = codec_encode(encoder, frame, packet);
        int64_t now_us = (int64_t)i * AUDIO_FRAME_US;
        if (i % LOSS_EVERY != LOSS_EVERY / 2)
            inlet_input(ear->inlet, packet, len, (uint16_t)i, (uint32_t)i * 960, now_us);
        hear(ear, now_us);
    }
}

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
        const char *question, *word; /* one that the answer must have */
    } rows[] = {
        {"What time is breakfast on Sunday?", "weekend"},
        {"When can I check in?", "check-in"},
        {"Until what time is the front desk open?", "11 pm"},
        {"Can I bring my cat?", "information"},
    };
    struct speech_rig rig;
    struct heard heard;
    speech_rig_open(&rig);
    struct stt *stt = speech_rig_listen(&rig, hotel_document, &heard);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ear ear = {.inlet = inlet_new(), .vad = vad_new(&vad_defaults)};
        struct spoken spoken;
        struct answer answer;
        buf_init(&ear.heard, 4 * 1024 * 1024);
        speech_rig_speak(&rig, "flite", &slt, rows[i].question, &spoken);
        send(&ear, &spoken);
        mem_free(spoken.samples);
        CHECK(ear.starts >= 1 && ear.starts == ear.stops);
        speech_rig_hear_16k(&rig, stt, (const int16_t *)(void *)ear.heard.data,
                            ear.heard.len / sizeof(int16_t), &heard);
        ask(&rig, heard.text, &answer);
        if (!CHECK(strcasestr(answer.text, rows[i].word) != NULL))
            fprintf(stderr, "      %s -> %s -> %s\n", rows[i].question, heard.text, answer.text);
        speech_rig_speak(&rig, "flite", &slt, answer.text, &spoken);
        CHECK(spoken.error == ENGINE_OK && spoken.count > 48000);
        mem_free(spoken.samples);
        inlet_free(ear.inlet);
        vad_free(ear.vad);
        buf_clear(&ear.heard);
    }
    stt->ops->close(stt);
    speech_rig_close(&rig);
}
