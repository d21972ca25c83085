#include "call/media.h"

#include <assert.h>
#include <string.h>

#include "audio/inlet.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "call/line_cache.h"
#include "engine/stt.h"
#include "room/link.h"
#include "talk/talk.h"

enum {
    SAID_MAX_BYTES = MEDIA_SAID_MAX_SAMPLES * (int)sizeof(int16_t),
    SAY_AGAIN_SAMPLES = 1600, /* a message's worth */
};

/* Audio that waits: samples, a packet, or (is_replay) frames of a line. A fixed line stands alone
 * in its frames, and samples do not join a packet's, so that a chunk of another line or kind begins
 * a new frame. */
struct chunk {
    struct list_node node;
    size_t count, offset; /* samples */
    struct encoded_line *line;
    bool is_replay, ends_piece;
    size_t packet_bytes; /* 0: samples, or a replay */
    int16_t samples[];   /* or the packet */
};

static void frame_due(void *arg, int64_t due_us);

void media_open(struct media *media, const struct vad_config *vad)
{
    struct vad_config config = *vad;
    config.min_silence_ms = MIN(config.min_silence_ms, MEDIA_PAUSE_MS);
    media->heard.inlet = inlet_new();
    media->heard.vad = vad_new(&config);
    media->spoken.is_whole = true;
    media->spoken.encoding = media->profile;
    buf_init(&media->heard.said, SAID_MAX_BYTES);
    list_init(&media->spoken.chunks);
}

static void count_frames(const struct media_spoken *spoken)
{
    static const char *const names[MEDIA_FRAMES] = {
        [MEDIA_ENCODED] = "encoded", [MEDIA_RELAYED] = "relayed", [MEDIA_REPEATED] = "repeated"};
    for (int i = 0; i < MEDIA_FRAMES; i++)
        if (spoken->frames[i])
            metric_add_label(METRIC_VOICE_FRAMES, names[i], spoken->frames[i]);
}

void media_clear(struct media *media)
{
    if (!media->heard.inlet)
        return;
    count_frames(&media->spoken);
    media_stop(media);
    media_drop(media);
    buf_clear(&media->heard.said);
    inlet_free(media->heard.inlet);
    vad_free(media->heard.vad);
    codec_encoder_free(media->spoken.encoder);
    media->heard.inlet = NULL;
}

void media_start(struct media *media)
{
    if (!media->spoken.seat.pacer)
        pacer_join(media->pacer, &media->spoken.seat, frame_due, media);
}

void media_stop(struct media *media)
{
    pacer_leave(&media->spoken.seat);
    media->spoken.seat.pacer = NULL;
    media->spoken.is_in_spurt = media->heard.is_pushing = media->heard.was_voiced = false;
    media->heard.unpushed_samples = 0;
    media->spoken.tail = 0;
    vad_forget(media->heard.vad);
}

/* The caller. */

/* What was said, should the recogniser break. */

/* A turn that is over has had its time. */
static void forget_said(struct media *media)
{
    uint32_t turn = talk_turn(media->talk);
    if (turn == media->heard.said_turn)
        return;
    media->heard.said_turn = turn;
    buf_clear(&media->heard.said);
    media->heard.told_bytes = 0;
    media->heard.is_said_cut = false;
}

static void keep_said(struct media_heard *heard, const int16_t *samples, size_t count)
{
    enum { STEP_BYTES = SAID_MAX_BYTES / 15 }; /* of the oldest, at a time */
    struct buf *said = &heard->said;
    size_t bytes = count * sizeof(*samples);
    if (said->len + bytes > SAID_MAX_BYTES) {
        memmove(said->data, said->data + STEP_BYTES, said->len - STEP_BYTES);
        said->len -= STEP_BYTES;
        heard->told_bytes -= MIN(heard->told_bytes, (size_t)STEP_BYTES);
        heard->is_said_cut = true;
    }
    (void)buf_append(said, samples, bytes);
}

static void give(struct media *media, const int16_t *samples, size_t count)
{
    keep_said(&media->heard, samples, count);
    media->stt->ops->push(media->stt, samples, count);
}

void media_told(struct media *media)
{
    media->heard.told_bytes = media->heard.said.len;
}

bool media_say_again(struct media *media)
{
    forget_said(media);
    const struct buf *said = &media->heard.said;
    size_t from = media->heard.is_said_cut ? media->heard.told_bytes : 0;
    for (size_t at = from, bytes; media->stt && at < said->len; at += bytes) {
        int16_t samples[SAY_AGAIN_SAMPLES];
        bytes = MIN(said->len - at, sizeof(samples));
        memcpy(samples, said->data + at, bytes);
        media->stt->ops->push(media->stt, samples, bytes / sizeof(int16_t));
    }
    return !media->heard.is_said_cut;
}

/* What came just before the voice, as far as the recogniser has not got it already. */
static void push_prefix(struct media *media)
{
    size_t most = vad_prefix_max_samples(media->heard.vad);
    AUTO_MEM int16_t *samples = mem_new_n(int16_t, most);
    size_t count = vad_prefix(media->heard.vad, samples, most);
    size_t fresh = MIN(count, media->heard.unpushed_samples + AUDIO_IN_SAMPLES);
    give(media, samples + (count - fresh), fresh);
    media->heard.unpushed_samples = 0;
}

static void push(struct media *media, const struct audio_frame *frame, enum vad_change change)
{
    forget_said(media);
    if (media->stt && change == VAD_STARTED)
        push_prefix(media);
    else if (media->stt && media->heard.is_pushing)
        give(media, frame->samples, AUDIO_IN_SAMPLES);
    else
        media->heard.unpushed_samples += AUDIO_IN_SAMPLES;
    media->heard.is_pushing =
        change == VAD_STARTED || (media->heard.is_pushing && change != VAD_STOPPED);
}

static bool is_stalled(const struct media_heard *heard, const struct audio_frame *frame,
                       int64_t now_us)
{
    return frame->source == AUDIO_SILENCE && heard->was_voiced && !heard->is_muted &&
           now_us < heard->packet_us + MEDIA_STALL_US;
}

static void hear(struct media *media, const struct audio_frame *frame, int64_t now_us)
{
    if (is_stalled(&media->heard, frame, now_us))
        return;
    struct vad_result voice;
    vad_input(media->heard.vad, frame, &voice);
    if (frame->source != AUDIO_SILENCE)
        media->heard.was_voiced = voice.is_voiced;
    if (voice.change == VAD_STARTED)
        talk_voice_started(media->talk, now_us);
    push(media, frame, voice.change);
    if (voice.change == VAD_STOPPED)
        talk_voice_stopped(media->talk, now_us - (int64_t)voice.silence_ms * 1000, now_us);
    if (voice.change != VAD_SAME)
        media->on_talk(media->arg);
}

static void hear_all(struct media *media, int64_t now_us)
{
    struct audio_frame frame;
    while (media->heard.inlet && inlet_output(media->heard.inlet, now_us, &frame))
        hear(media, &frame, now_us);
}

void media_opus(struct media *media, const uint8_t *payload, size_t len, uint16_t sequence,
                uint32_t timestamp, int64_t now_us)
{
    log_scope(media->call_id, NULL);
    media->heard.packet_us = now_us;
    inlet_input(media->heard.inlet, payload, len, sequence, timestamp, now_us);
    hear_all(media, now_us);
    log_scope(NULL, NULL);
}

void media_mute(struct media *media, bool is_muted)
{
    media->heard.is_muted = is_muted;
}

void media_stats(const struct media *media, struct jitter_stats *out)
{
    inlet_stats(media->heard.inlet, out);
}

/* The agent. */

static void chunk_free(struct chunk *chunk)
{
    list_remove(&chunk->node);
    encoded_line_unref(chunk->line);
    mem_free(chunk);
}

static struct chunk *front(const struct media_spoken *spoken)
{
    return LIST_FIRST(&spoken->chunks, struct chunk, node);
}

static void stop_caching(struct media_spoken *spoken)
{
    encoded_line_unref(spoken->cached);
    spoken->cached = NULL;
}

/* The fixed line that is being said was said to its end. */
static void keep_line(struct media *media)
{
    if (media->spoken.cached && media->lines)
        line_cache_keep(media->lines, media->spoken.cached);
    stop_caching(&media->spoken);
}

/* May a frame that began with samples of this line go on with these? */
static bool joins(const struct chunk *chunk, const struct encoded_line *line)
{
    return chunk->line == line && !chunk->is_replay && !chunk->packet_bytes;
}

/* Fills a frame out of one piece (if it is a fixed line) or of all that is queued; returns how many
 * samples are speech, the rest is silence. */
static size_t take_frame(struct media_spoken *spoken, int16_t frame[AUDIO_OUT_SAMPLES],
                         bool *out_ends)
{
    size_t filled = 0;
    struct chunk *chunk = front(spoken);
    struct encoded_line *line = chunk->line;
    *out_ends = false;
    for (; chunk && joins(chunk, line) && !*out_ends && filled < AUDIO_OUT_SAMPLES;
         chunk = front(spoken)) {
        size_t part = MIN(chunk->count - chunk->offset, AUDIO_OUT_SAMPLES - filled);
        memcpy(frame + filled, chunk->samples + chunk->offset, part * sizeof(*frame));
        filled += part;
        chunk->offset += part;
        if (chunk->offset < chunk->count)
            break;
        *out_ends = line && chunk->ends_piece;
        chunk_free(chunk);
    }
    memset(frame + filled, 0, (AUDIO_OUT_SAMPLES - filled) * sizeof(*frame));
    spoken->queued_samples -= filled;
    return filled;
}

static void send_packet(struct media *media, const uint8_t *packet, size_t len)
{
    media->room->ops->send_opus(media->room, packet, len, media->spoken.timestamp,
                                !media->spoken.is_in_spurt);
    media->spoken.timestamp += AUDIO_OUT_SAMPLES;
    media->spoken.is_in_spurt = true;
}

static void send_frame(struct media *media, const int16_t frame[AUDIO_OUT_SAMPLES])
{
    if (!media->spoken.encoder)
        media->spoken.encoder = codec_encoder_new(media->spoken.encoding);
    else if (!media->spoken.is_in_spurt || !media->spoken.is_encoding)
        codec_encoder_reset(
            media->spoken.encoder); /* the far side has not heard what it encoded last */
    media->spoken.is_encoding = true;
    uint8_t packet[CODEC_PACKET_MAX_BYTES];
    size_t len = codec_encode(media->spoken.encoder, frame, packet);
    if (media->spoken.cached) {
        encoded_line_add(media->spoken.cached, packet, len);
        if (codec_encoder_profile(media->spoken.encoder) != media->profile)
            encoded_line_spoil(media->spoken.cached);
    }
    send_packet(media, packet, len);
}

/* A frame may be short only where nothing follows it: at the end of all, or of a fixed line. */
static bool has_frame(const struct media_spoken *spoken)
{
    const struct chunk *first = front(spoken);
    if (!spoken->may_play || !first)
        return false;
    if (spoken->is_whole || first->is_replay || first->packet_bytes)
        return true;
    size_t samples = 0;
    struct chunk *chunk;
    LIST_EACH (chunk, &spoken->chunks, struct chunk, node) {
        if (!joins(chunk, first->line))
            return true;
        samples += chunk->count - chunk->offset;
        if (samples >= AUDIO_OUT_SAMPLES || (chunk->line && chunk->ends_piece))
            return true;
    }
    return false;
}

static size_t send_replayed(struct media *media, struct chunk *chunk)
{
    size_t len;
    const uint8_t *packet =
        encoded_line_frame(chunk->line, chunk->offset / AUDIO_OUT_SAMPLES, &len);
    send_packet(media, packet, len);
    media->spoken.frames[MEDIA_REPEATED]++;
    media->spoken.is_encoding = false;
    chunk->offset += AUDIO_OUT_SAMPLES;
    media->spoken.queued_samples -= AUDIO_OUT_SAMPLES;
    if (chunk->offset == chunk->count)
        chunk_free(chunk);
    return AUDIO_OUT_SAMPLES;
}

static void cache_line_of(struct media_spoken *spoken, const struct chunk *chunk)
{
    if (chunk->line == spoken->cached)
        return;
    stop_caching(spoken);
    spoken->cached = chunk->line ? encoded_line_ref(chunk->line) : NULL;
}

static size_t send_relayed(struct media *media, struct chunk *chunk)
{
    const uint8_t *packet = (const uint8_t *)chunk->samples;
    bool ends = chunk->line && chunk->ends_piece;
    cache_line_of(&media->spoken, chunk);
    if (media->spoken.cached)
        encoded_line_add(media->spoken.cached, packet, chunk->packet_bytes);
    send_packet(media, packet, chunk->packet_bytes);
    media->spoken.frames[MEDIA_RELAYED]++;
    media->spoken.is_encoding = false;
    media->spoken.is_relaying = true;
    media->spoken.queued_samples -= AUDIO_OUT_SAMPLES;
    chunk_free(chunk);
    if (ends)
        keep_line(media);
    return AUDIO_OUT_SAMPLES;
}

static size_t send_encoded(struct media *media, struct chunk *chunk)
{
    cache_line_of(&media->spoken, chunk);
    media->spoken.frames[MEDIA_ENCODED]++;
    media->spoken.is_relaying = false;
    int16_t frame[AUDIO_OUT_SAMPLES];
    bool ends;
    size_t speech = take_frame(&media->spoken, frame, &ends);
    send_frame(media, frame);
    if (ends)
        keep_line(media);
    return speech;
}

static void send_speech(struct media *media, int64_t now_us)
{
    struct chunk *chunk = front(&media->spoken);
    size_t speech = chunk->is_replay      ? send_replayed(media, chunk)
                    : chunk->packet_bytes ? send_relayed(media, chunk)
                                          : send_encoded(media, chunk);
    media->spoken.tail = MEDIA_TAIL_FRAMES;
    talk_played(media->talk, speech, now_us);
    media->on_talk(media->arg);
}

/* After packets that are not our encoder's, it has nothing to go on from. */
static void send_tail(struct media *media)
{
    static const int16_t silence[AUDIO_OUT_SAMPLES];
    media->spoken.tail--;
    if (!media->spoken.is_encoding) {
        send_packet(media, codec_silence, sizeof(codec_silence));
        return;
    }
    struct encoded_line *cached = media->spoken.cached;
    media->spoken.cached = NULL; /* silence between is no part of it */
    send_frame(media, silence);
    media->spoken.cached = cached;
}

static void frame_due(void *arg, int64_t due_us)
{
    struct media *media = arg;
    (void)due_us;
    int64_t now_us = loop_now_us(media->loop);
    log_scope(media->call_id, NULL);
    hear_all(media, now_us);
    if (has_frame(&media->spoken)) {
        send_speech(media, now_us);
    } else if (media->spoken.tail > 0) {
        send_tail(media);
    } else {
        media->spoken.is_in_spurt = false;
        media->spoken.timestamp += AUDIO_OUT_SAMPLES; /* media time goes on in silence */
    }
    log_scope(NULL, NULL);
}

/* Speech that begins does not wait for the seat's slot. */
static void begin_spurt(struct media *media)
{
    if (!media->spoken.seat.pacer || media->spoken.is_in_spurt || !has_frame(&media->spoken))
        return;
    pacer_rephase(&media->spoken.seat);
    send_speech(media, loop_now_us(media->loop));
}

static void add_chunk(struct media *media, struct chunk *chunk, struct encoded_line *line)
{
    chunk->line = line ? encoded_line_ref(line) : NULL;
    list_push_back(&media->spoken.chunks, &chunk->node);
    media->spoken.queued_samples += chunk->count;
    media->spoken.is_whole = chunk->is_replay;
    begin_spurt(media);
}

void media_keep(struct media *media, const int16_t *samples, size_t count,
                struct encoded_line *line)
{
    if (count == 0)
        return;
    struct chunk *chunk = mem_zalloc(sizeof(*chunk) + count * sizeof(*samples));
    chunk->count = count;
    memcpy(chunk->samples, samples, count * sizeof(*samples));
    add_chunk(media, chunk, line);
}

void media_relay(struct media *media, const uint8_t *packet, size_t bytes,
                 struct encoded_line *line)
{
    assert(bytes > 0 && bytes <= CODEC_PACKET_MAX_BYTES);
    struct chunk *chunk = mem_zalloc(sizeof(*chunk) + bytes);
    chunk->count = AUDIO_OUT_SAMPLES;
    chunk->packet_bytes = bytes;
    memcpy(chunk->samples, packet, bytes);
    add_chunk(media, chunk, line);
}

void media_replay(struct media *media, struct encoded_line *line)
{
    struct chunk *chunk = mem_new(struct chunk);
    chunk->count = encoded_line_frames(line) * AUDIO_OUT_SAMPLES;
    chunk->is_replay = true;
    add_chunk(media, chunk, line);
}

void media_whole(struct media *media)
{
    media->spoken.is_whole = true;
    if (list_is_empty(&media->spoken.chunks))
        keep_line(media); /* it was said as fast as it came */
    else
        CONTAINER_OF(media->spoken.chunks.prev, struct chunk, node)->ends_piece = true;
    begin_spurt(media);
}

void media_drop(struct media *media)
{
    struct chunk *chunk;
    LIST_EACH (chunk, &media->spoken.chunks, struct chunk, node)
        chunk_free(chunk);
    stop_caching(&media->spoken);
    media->spoken.queued_samples = 0;
    media->spoken.is_whole = true;
}

void media_encode_as(struct media *media, enum codec_profile profile)
{
    media->spoken.encoding = profile;
    if (media->spoken.encoder)
        codec_encoder_change(media->spoken.encoder, profile);
}

void media_play(struct media *media, bool may_play)
{
    media->spoken.may_play = may_play;
    if (may_play)
        begin_spurt(media);
}
