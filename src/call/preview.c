#include "call/preview.h"

#include <string.h>

#include "audio/resample.h"
#include "audio/wav.h"
#include "base/fair.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "engine/tts.h"

enum {
    RUNNING_MAX = 4, /* of all workspaces: they are heard beside calls, not instead of them */
    WAITING_OF_ONE_MAX = 2,
    WAITING_MAX = 2 * RUNNING_MAX, /* nobody waits longer than two sentences */
    SOUND_MAX = PREVIEW_SOUND_S * PREVIEW_RATE_HZ,
    WAV_MAX_BYTES = SOUND_MAX * 2 + 100,
};

struct previews {
    struct loop *control;
    struct loop **media;
    size_t media_count, next;
    struct fair *fair;
    struct list_node all; /* waiting and running */
    bool is_draining;
};

struct preview {
    struct fair_item item;
    struct list_node node;
    struct previews *previews;
    preview_done_fn *done; /* NULL: told already */
    void *arg;
    const struct engine *engine;
    char *workspace_id, *language, *speaker, *emotion, *text;
    double speed, volume;
    struct loop *loop; /* NULL: it waits */

    /* A message that names it is under way: whoever frees it then leaves that to the message. Both
     * loops write it, by turns. */
    bool is_posted, is_orphan;

    /* The media loop's, while it runs there. */
    struct tts *tts;
    struct timer deadline;
    struct resampler *resampler;
    struct buf pcm;
    enum err err;
    bool is_over;
    int64_t begun_us;
};

static void pump(struct previews *previews);

static void preview_free(struct preview *preview)
{
    resampler_free(preview->resampler);
    buf_clear(&preview->pcm);
    mem_free(preview->workspace_id);
    mem_free(preview->language);
    mem_free(preview->speaker);
    mem_free(preview->emotion);
    mem_free(preview->text);
    mem_free(preview);
}

struct previews *previews_new(struct loop *control, struct loop *const *media, size_t media_count)
{
    struct previews *previews = mem_new(struct previews);
    previews->control = control;
    previews->media = mem_new_n(struct loop *, media_count);
    memcpy(previews->media, media, media_count * sizeof(*media));
    previews->media_count = media_count;
    previews->fair = fair_new(&(struct fair_limits){.waiting_per_key = WAITING_OF_ONE_MAX,
                                                    .waiting = WAITING_MAX,
                                                    .running_per_key = 1,
                                                    .running = RUNNING_MAX});
    list_init(&previews->all);
    return previews;
}

static void close_voice(struct preview *preview)
{
    if (!preview->tts)
        return;
    timer_stop(&preview->deadline);
    preview->tts->ops->close(preview->tts);
    preview->tts = NULL;
}

void previews_free(struct previews *previews)
{
    if (!previews)
        return;
    struct preview *preview;
    while ((preview = LIST_FIRST(&previews->all, struct preview, node))) {
        list_remove(&preview->node);
        fair_remove(previews->fair, &preview->item);
        close_voice(preview);
        preview->is_orphan = true;
        if (!preview->is_posted)
            preview_free(preview);
    }
    fair_free(previews->fair);
    mem_free(previews->media);
    mem_free(previews);
}

/* Between the loops. */

static void post(struct preview *preview, struct loop *loop, loop_fn *fn)
{
    preview->is_posted = true;
    loop_post(loop, fn, preview);
}

/* false: the message was the last that knew it. */
static bool is_wanted(struct preview *preview)
{
    preview->is_posted = false;
    if (preview->is_orphan)
        preview_free(preview);
    else
        return true;
    return false;
}

static void tell(struct preview *preview, enum err err, struct buf *wav)
{
    preview_done_fn *done = preview->done;
    preview->done = NULL;
    if (done)
        done(preview->arg, err, wav);
}

/* Control loop. */
static void ended_here(void *arg)
{
    struct preview *preview = arg;
    if (!is_wanted(preview))
        return;
    struct previews *previews = preview->previews;
    AUTO_BUF wav = BUF_INIT(WAV_MAX_BYTES);
    enum err err = preview->err;
    if (!err)
        err = wav_write(&wav, PREVIEW_RATE_HZ, (const int16_t *)(const void *)preview->pcm.data,
                        preview->pcm.len / sizeof(int16_t));
    list_remove(&preview->node);
    fair_done(previews->fair, &preview->item,
              MAX(loop_now_us(previews->control) - preview->begun_us, 1));
    tell(preview, err, &wav);
    preview_free(preview);
    pump(previews);
}

/* Media loop, outside of the engine's callback. */
static void leave(void *arg)
{
    struct preview *preview = arg;
    if (!is_wanted(preview))
        return;
    close_voice(preview);
    post(preview, preview->previews->control, ended_here);
}

static void end(struct preview *preview, enum err err)
{
    if (preview->is_over)
        return;
    preview->is_over = true;
    preview->err = err;
    post(preview, preview->loop, leave);
}

static void on_deadline(void *arg)
{
    end(arg, ERR_TIMEOUT);
}

static void take_sound(struct preview *preview, const int16_t *samples, size_t count)
{
    size_t room = SOUND_MAX - preview->pcm.len / sizeof(int16_t);
    AUTO_MEM int16_t *piece = mem_new_n(int16_t, resampler_out_max(preview->resampler, count) + 1);
    size_t made = MIN(resampler_run(preview->resampler, samples, count, piece), room);
    (void)buf_append(&preview->pcm, piece, made * sizeof(*piece));
    if (made == room)
        end(preview, OK);
}

static enum err err_of(enum engine_error error)
{
    return error == ENGINE_BAD_REQUEST ? ERR_INVALID
           : error == ENGINE_CROWDED   ? ERR_LIMIT
           : error == ENGINE_TIMEOUT   ? ERR_TIMEOUT
                                       : ERR_IO;
}

static void on_voice(void *arg, const struct tts_event *event)
{
    struct preview *preview = arg;
    if (preview->is_over)
        return;
    if (event->kind == TTS_ERROR)
        end(preview, err_of(event->error));
    else if (event->kind == TTS_AUDIO)
        take_sound(preview, event->samples, event->count);
    else /* an engine that says nothing has not done what was asked */
        end(preview, preview->pcm.len ? OK : ERR_IO);
}

/* Media loop. */
static void begin_there(void *arg)
{
    struct preview *preview = arg;
    if (!is_wanted(preview))
        return;
    const struct tts_config config = {.language = preview->language,
                                      .speaker = preview->speaker,
                                      .emotion = preview->emotion,
                                      .model = "",
                                      .workspace = preview->workspace_id,
                                      .speed = preview->speed,
                                      .volume = preview->volume};
    timer_init(&preview->deadline, preview->loop, on_deadline, preview);
    timer_set_after(&preview->deadline, PREVIEW_DEADLINE_S * INT64_C(1000000));
    preview->resampler = resampler_new(TTS_RATE_HZ, PREVIEW_RATE_HZ);
    preview->tts =
        preview->engine->ops.tts->open(preview->engine, preview->loop, &config, on_voice, preview);
    preview->tts->ops->speak(preview->tts, 1, preview->text, true);
}

/* Control loop. */

static void pump(struct previews *previews)
{
    struct fair_item *item;
    while ((item = fair_next(previews->fair))) {
        struct preview *preview = CONTAINER_OF(item, struct preview, item);
        preview->begun_us = loop_now_us(previews->control);
        preview->loop = previews->media[previews->next++ % previews->media_count];
        post(preview, preview->loop, begin_there);
    }
}

static struct preview *preview_new(struct previews *previews, const struct preview_wish *wish)
{
    struct preview *preview = mem_new(struct preview);
    preview->previews = previews;
    preview->engine = wish->engine;
    preview->workspace_id = mem_strdup(wish->workspace_id);
    preview->language = mem_strdup(wish->language);
    preview->speaker = mem_strdup(wish->speaker);
    preview->emotion = mem_strdup(wish->emotion);
    preview->text = mem_strdup(wish->text);
    preview->speed = wish->speed;
    preview->volume = wish->volume;
    buf_init(&preview->pcm, SOUND_MAX * sizeof(int16_t));
    return preview;
}

void previews_ask(struct previews *previews, const struct preview_wish *wish, preview_done_fn *done,
                  void *arg)
{
    if (previews->is_draining) {
        done(arg, ERR_CLOSED, NULL);
        return;
    }
    struct preview *preview = preview_new(previews, wish);
    bool is_own = fair_waiting_of(previews->fair, wish->workspace_id) >= WAITING_OF_ONE_MAX;
    if (fair_push(previews->fair, preview->workspace_id, &preview->item) != OK) {
        preview_free(preview);
        done(arg, is_own ? ERR_LIMIT : ERR_BUSY, NULL);
        return;
    }
    preview->done = done;
    preview->arg = arg;
    list_push_back(&previews->all, &preview->node);
    pump(previews);
}

void previews_drain(struct previews *previews)
{
    struct preview *preview;
    previews->is_draining = true;
    LIST_EACH (preview, &previews->all, struct preview, node) {
        tell(preview, ERR_CLOSED, NULL);
        if (preview->loop) /* it ends by itself, or with the loops */
            continue;
        fair_remove(previews->fair, &preview->item);
        list_remove(&preview->node);
        preview_free(preview);
    }
}
