/* The requests to the model, one batch after the other (see cards.h). A model that fails, hangs or
 * says nonsense costs a document its further cards and nothing else. Thread: its loop. */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "engine/llm.h"
#include "engine/registry.h"
#include "know/cards.h"
#include "know/passages.h"

enum {
    BATCH_US = 60 * 1000 * 1000, /* for one answer */
    TOKENS = 1500,
    LINE_MAX_BYTES = 16 * 1024,
    PASSAGES_MAX = 20000,
};

struct card_writer {
    struct card_writer_spec spec;
    struct llm *llm;
    struct timer deadline, over;
    const struct passage *sections[CARDS_SECTIONS];
    size_t count;          /* of them, in the batch */
    size_t next, all;      /* of the document's passages: looked at, as they were at the start */
    size_t batches, taken; /* cards of this batch */
    uint32_t gen;
    struct buf line;
    bool is_over;
};

/* From a timer: the owner may close us in on_done. */
static void tell_over(void *arg)
{
    struct card_writer *writer = arg;
    writer->spec.on_done(writer->spec.arg);
}

static void finish(struct card_writer *writer)
{
    if (writer->is_over)
        return;
    writer->is_over = true;
    timer_stop(&writer->deadline);
    timer_set_after(&writer->over, 0);
}

static void on_deadline(void *arg)
{
    struct card_writer *writer = arg;
    log_warn("know.cards_late", LOG_I("batch", (int64_t)writer->batches));
    finish(writer);
}

/* The next sections that are no cards. They are copied pointers: the list may move as it grows. */
static void gather(struct card_writer *writer)
{
    const struct passages *passages = writer->spec.passages;
    writer->count = 0;
    for (; writer->next < writer->all && writer->count < CARDS_SECTIONS; writer->next++) {
        if (passages->items[writer->next].question)
            continue;
        struct passage *copy = arena_new_of(writer->spec.arena, struct passage);
        *copy = passages->items[writer->next];
        writer->sections[writer->count++] = copy;
    }
}

static void ask_next(struct card_writer *writer)
{
    gather(writer);
    if (!writer->count || writer->batches == CARDS_BATCHES) {
        finish(writer);
        return;
    }
    AUTO_BUF text = BUF_INIT(256 * 1024);
    cards_ask(writer->sections, writer->count, &text);
    const struct llm_message message = {.role = LLM_USER, .text = text.data};
    const struct llm_request request = {.messages = &message,
                                        .message_count = 1,
                                        .language = writer->sections[0]->language,
                                        .temperature = 0.2,
                                        .max_tokens = TOKENS};
    writer->batches++;
    writer->taken = 0;
    buf_reset(&writer->line);
    timer_set_after(&writer->deadline, BATCH_US);
    writer->llm->ops->start(writer->llm, ++writer->gen, &request);
}

static bool has_card(const struct passages *passages, const char *question)
{
    for (size_t i = 0; i < passages->count; i++)
        if (passages->items[i].question && strcmp(passages->items[i].question, question) == 0)
            return true;
    return false;
}

static void add_card(struct card_writer *writer, const struct passage *card)
{
    struct passages *passages = writer->spec.passages;
    if (passages->count == PASSAGES_MAX || writer->taken == CARDS_PER_BATCH ||
        has_card(passages, card->question))
        return;
    if ((passages->count & (passages->count - 1)) == 0) { /* grows by doubling, as passages_of() */
        struct passage *wider =
            arena_new_n(writer->spec.arena, struct passage, MAX(passages->count * 2, (size_t)8));
        memcpy(wider, passages->items, passages->count * sizeof(*wider));
        passages->items = wider;
    }
    passages->items[passages->count++] = *card;
    writer->taken++;
}

static void take_line(struct card_writer *writer)
{
    struct passage card;
    if (writer->line.len && !writer->line.is_full &&
        cards_read_line(writer->line.data, writer->sections, writer->count, writer->spec.arena,
                        &card))
        add_card(writer, &card);
    buf_reset(&writer->line);
}

static void take_text(struct card_writer *writer, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        (void)buf_append(&writer->line, text, len);
        text += len;
        if (*text == '\n') {
            take_line(writer);
            text++;
        }
    }
}

static void on_event(void *arg, const struct llm_event *event)
{
    struct card_writer *writer = arg;
    if (event->gen != writer->gen || writer->is_over)
        return;
    if (event->kind == LLM_TEXT) {
        take_text(writer, event->text);
    } else if (event->kind == LLM_DONE) {
        take_line(writer);
        writer->spec.on_progress(writer->spec.arg, writer->next, writer->all);
        ask_next(writer);
    } else if (event->kind == LLM_ERROR) {
        log_warn("know.cards_failed", LOG_S("error", event->message ? event->message : ""));
        finish(writer);
    }
}

struct card_writer *card_writer_open(const struct card_writer_spec *spec)
{
    struct card_writer *writer = mem_new(struct card_writer);
    *writer = (struct card_writer){
        .spec = *spec, .all = spec->passages->count, .line = BUF_INIT(LINE_MAX_BYTES)};
    const struct llm_config config = {.model = "", .workspace = spec->workspace_id};
    timer_init(&writer->deadline, spec->loop, on_deadline, writer);
    timer_init(&writer->over, spec->loop, tell_over, writer);
    writer->llm = spec->engine->ops.llm->open(spec->engine, &config, spec->loop, on_event, writer);
    if (writer->llm)
        ask_next(writer);
    else
        finish(writer);
    return writer;
}

static void free_writer(void *arg)
{
    mem_free(arg);
}

void card_writer_close(struct card_writer *writer)
{
    if (!writer)
        return;
    writer->is_over = true;
    timer_stop(&writer->deadline);
    timer_stop(&writer->over);
    if (writer->llm)
        writer->llm->ops->close(writer->llm);
    buf_clear(&writer->line);
    loop_defer(writer->spec.loop, free_writer, writer);
}
