/* Vectors by POST {url}/embeddings, as OpenAI, vLLM, llama.cpp, Ollama and others serve it. Vectors
 * come in any order, each with its index, and are made of unit length here. Wire facts:
 * docs/engines.md. Thread: its loop. */
#include <math.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "engine/embed.h"
#include "engine/registry.h"
#include "vendor/account.h"
#include "vendor/ask.h"
#include "vendor/internal.h"

enum {
    STALL_MS = 15000,
    TOTAL_MS = 30000,
    BODY_MAX_BYTES = 2 * EMBED_TEXTS_MAX * EMBED_TEXT_MAX_BYTES,
    ANSWER_MAX_BYTES = 4 * 1024 * 1024,
    DEPTH_MAX = 8,
};

struct openai_embed_engine {
    struct account account;
    char *authorization; /* NULL: no key */
};

struct openai_embed {
    struct embed base;
    const struct openai_embed_engine *engine;
    struct loop *loop;
    embed_event_fn *on_event;
    void *arg;
    struct ask ask;
    const char *headers[3];
    char *model;
    uint32_t gen;
    size_t count; /* texts under way */
};

static void fail(struct openai_embed *embed, enum engine_error error, const char *message,
                 int64_t retry_us)
{
    const struct embed_event event = {.kind = EMBED_ERROR,
                                      .gen = embed->gen,
                                      .error = error,
                                      .message = message,
                                      .retry_us = retry_us};
    embed->on_event(embed->arg, &event);
}

static bool read_vector(const struct js *numbers, size_t size, float *out)
{
    double sum = 0;
    if (js_count(numbers) != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        double number = js_real(js_at(numbers, i), NAN);
        sum += number * number;
    }
    if (!(sum > 0) || !isfinite(sum)) /* of one that is no number the sum is none */
        return false;
    double length = sqrt(sum);
    for (size_t i = 0; i < size; i++) /* -1 to 1, which a float holds, whatever they were */
        out[i] = (float)(js_real(js_at(numbers, i), NAN) / length);
    return true;
}

/* Each index once, all of one size. */
static bool read_vectors(const struct js *data, size_t count, size_t size, float *out)
{
    bool is_there[EMBED_TEXTS_MAX] = {false};
    for (size_t i = 0; i < count; i++) {
        const struct js *item = js_at(data, i);
        int64_t index = js_int(js_get(item, "index"), (int64_t)i);
        if (index < 0 || (size_t)index >= count || is_there[index] ||
            !read_vector(js_get(item, "embedding"), size, out + (size_t)index * size))
            return false;
        is_there[index] = true;
    }
    return true;
}

static void on_done(void *arg, const struct ask_answer *answer)
{
    struct openai_embed *embed = arg;
    AUTO(js) tree = NULL;
    if (answer->error) {
        fail(embed, answer->error, answer->message, answer->retry_us);
        return;
    }
    if (js_parse(answer->body, answer->body_len, DEPTH_MAX, &tree, NULL) != OK)
        tree = NULL;
    const struct js *data = js_get(tree, "data");
    size_t size = js_count(js_get(js_at(data, 0), "embedding"));
    bool is_sized = size > 0 && size <= EMBED_SIZE_MAX && js_count(data) == embed->count;
    AUTO_MEM float *vectors = mem_new_n(float, is_sized ? size * embed->count : 1);
    if (!is_sized || !read_vectors(data, embed->count, size, vectors)) {
        fail(embed, ENGINE_PROTOCOL, "the answer has no vector for each text", ENGINE_NO_RETRY);
        return;
    }
    const struct embed_event event = {.kind = EMBED_VECTORS,
                                      .gen = embed->gen,
                                      .vectors = vectors,
                                      .count = embed->count,
                                      .size = size};
    embed->on_event(embed->arg, &event);
}

static struct embed *open_embed(const struct engine *engine, const struct embed_config *config,
                                struct loop *loop, embed_event_fn *on_event, void *arg)
{
    static const struct ask_fns fns = {NULL, on_done};
    struct openai_embed *embed = mem_new(struct openai_embed);
    const char *model = config->model && *config->model ? config->model : engine->info.models[0];
    embed->base.ops = &openai_embed_ops;
    embed->engine = engine->state;
    embed->loop = loop;
    embed->on_event = on_event;
    embed->arg = arg;
    embed->model = mem_strdup(model);
    if (embed->engine->authorization) {
        embed->headers[0] = "Authorization";
        embed->headers[1] = embed->engine->authorization;
    }
    ask_init(&embed->ask, &embed->engine->account, loop, config->workspace, &fns, embed);
    return &embed->base;
}

static void write_body(const struct openai_embed *embed, const char *const *texts, size_t count,
                       struct buf *body)
{
    struct js_out out;
    js_out_init(&out, body);
    js_out_object(&out);
    js_out_key(&out, "model");
    js_out_text(&out, embed->model);
    js_out_key(&out, "encoding_format");
    js_out_text(&out, "float");
    js_out_key(&out, "input");
    js_out_array(&out);
    for (size_t i = 0; i < count; i++) /* an empty text is refused */
        js_out_text_n(&out, *texts[i] ? texts[i] : " ",
                      *texts[i] ? strnlen(texts[i], EMBED_TEXT_MAX_BYTES) : 1);
    js_out_array_end(&out);
    js_out_object_end(&out);
}

static void start(struct embed *base, uint32_t gen, const char *const *texts, size_t count)
{
    struct openai_embed *embed = (struct openai_embed *)base;
    const struct ask_request request = {.path = "/embeddings",
                                        .headers = embed->headers,
                                        .content_type = "application/json",
                                        .max_answer_bytes = ANSWER_MAX_BYTES,
                                        .stall_ms = STALL_MS,
                                        .total_ms = TOTAL_MS};
    AUTO_BUF body = BUF_INIT(BODY_MAX_BYTES);
    embed->gen = gen;
    embed->count = MIN(count, (size_t)EMBED_TEXTS_MAX);
    write_body(embed, texts, embed->count, &body);
    ask_send(&embed->ask, &request, &body);
}

static void cancel(struct embed *base)
{
    (void)ask_cancel(&((struct openai_embed *)base)->ask);
}

static void free_embed(void *arg)
{
    struct openai_embed *embed = arg;
    ask_clear(&embed->ask);
    mem_free(embed->model);
    mem_free(embed);
}

static void close_embed(struct embed *base)
{
    struct openai_embed *embed = (struct openai_embed *)base;
    (void)ask_cancel(&embed->ask);
    loop_defer(embed->loop, free_embed, embed);
}

const struct embed_ops openai_embed_ops = {open_embed, start, cancel, close_embed};

bool openai_embed_configure(void *env, const struct config *config, const struct engine_info *info,
                            void **out_state)
{
    static const struct account_plan plan = {"https://api.openai.com/v1", ACCOUNT_NEEDS_KEY_OR_URL};
    struct openai_embed_engine *engine = mem_new(struct openai_embed_engine);
    if (!account_read(&engine->account, env, config, info, &plan)) {
        mem_free(engine);
        return false;
    }
    if (engine->account.key)
        engine->authorization = mem_printf("Bearer %s", engine->account.key);
    *out_state = engine;
    return true;
}

void openai_embed_unconfigure(void *state)
{
    struct openai_embed_engine *engine = state;
    account_clear(&engine->account);
    mem_free(engine->authorization);
    mem_free(engine);
}
