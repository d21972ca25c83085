#include "room/transcript.h"

#include <string.h>

#include "base/attr.h"

enum { SEGMENT_MAX_BYTES = 65536 };

void transcript_init(struct transcript *transcript)
{
    *transcript = (struct transcript){0};
    buf_init(&transcript->text, SEGMENT_MAX_BYTES);
}

void transcript_clear(struct transcript *transcript)
{
    buf_clear(&transcript->text);
}

void transcript_restart(struct transcript *transcript)
{
    transcript->stream.is_open = false;
}

static void send_segment(struct transcript *transcript, const struct transcript_way *way,
                         const char *text, bool is_final)
{
    const struct packet_attribute attributes[] = {
        {"lk.segment_id", transcript->segment_id},
        {"lk.transcribed_track_id", way->agent_track_sid},
        {"lk.transcription_final", "false"},
    };
    const struct packet_attribute final = {"lk.transcription_final", "true"};
    if (!transcript->stream.is_open) { /* all of it: the reader may have come in between */
        text_out_open(&transcript->stream, &way->agent, TOPIC_TRANSCRIPTION, attributes,
                      ARRAY_LEN(attributes));
        text_out_write(&transcript->stream, &way->agent, transcript->text.data,
                       transcript->text.len);
    } else {
        text_out_write(&transcript->stream, &way->agent, text, strlen(text));
    }
    if (is_final)
        text_out_close(&transcript->stream, &way->agent, &final, 1);
}

static void send_old_form(const struct transcript_way *way, const struct room_transcript *line,
                          const char *text)
{
    const struct packet_segment segment = {
        .speaker_identity = line->is_agent ? way->agent.identity : way->caller_identity,
        .track_sid = line->is_agent ? way->agent_track_sid : way->caller_track_sid,
        .segment_id = line->segment_id,
        .text = text,
        .language = line->language,
        .is_final = line->is_final,
    };
    packet_send_transcription(&way->agent, &segment);
}

static void begin_segment(struct transcript *transcript, const struct transcript_way *way,
                          const char *segment_id)
{
    if (transcript->stream.is_open && way->caller_identity)
        send_segment(transcript, way, "", true);
    transcript->stream.is_open = false;
    buf_reset(&transcript->text);
    size_t len = strnlen(segment_id, sizeof(transcript->segment_id) - 1);
    memcpy(transcript->segment_id, segment_id, len);
    transcript->segment_id[len] = 0;
}

static void send_agent(struct transcript *transcript, const struct transcript_way *way,
                       const struct room_transcript *line)
{
    if (strcmp(transcript->segment_id, line->segment_id) != 0)
        begin_segment(transcript, way, line->segment_id);
    buf_append_str(&transcript->text, line->text);
    if (!way->caller_identity || transcript->text.len == 0)
        return;
    send_segment(transcript, way, line->text, line->is_final);
    send_old_form(way, line, transcript->text.data);
}

/* Each version is a stream of its own, said as the caller. */
static void send_caller(const struct transcript_way *way, const struct room_transcript *line)
{
    if (!way->caller_identity || !line->text[0])
        return;
    struct text_out stream;
    struct packet_sender sender = way->agent;
    sender.identity = way->caller_identity;
    sender.sid = "";
    const struct packet_attribute attributes[] = {
        {"lk.segment_id", line->segment_id},
        {"lk.transcribed_track_id", way->caller_track_sid},
        {"lk.transcription_final", line->is_final ? "true" : "false"},
    };
    text_out_open(&stream, &sender, TOPIC_TRANSCRIPTION, attributes, ARRAY_LEN(attributes));
    text_out_write(&stream, &sender, line->text, strlen(line->text));
    text_out_close(&stream, &sender, NULL, 0);
    send_old_form(way, line, line->text);
}

void transcript_send(struct transcript *transcript, const struct transcript_way *way,
                     const struct room_transcript *line)
{
    if (line->is_agent)
        send_agent(transcript, way, line);
    else
        send_caller(way, line);
}
