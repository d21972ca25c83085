#include "room/transcript.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

/* The reader's side: the streams as they arrive, one line of text each. */
struct reader {
    struct packet_reader packets;
    struct transcript transcript;
    struct buf log;
    struct transcript_way way;
};

static void on_text(void *arg, const struct text_in *stream, const char *added, size_t len,
                    bool is_end)
{
    struct reader *reader = arg;
    buf_printf(&reader->log, "%s %s '%.*s'%s\n", stream->sender, stream->segment_id, (int)len,
               added, is_end ? (stream->is_final ? " final" : " end") : "");
}

static const struct packet_events events = {.on_text = on_text};

static void deliver(void *arg, const uint8_t *packet, size_t len)
{
    struct reader *reader = arg;
    CHECK_INT(packet_read(&reader->packets, packet, len, &reader->way.agent), OK);
}

static void open_reader(struct reader *reader)
{
    *reader = (struct reader){
        .way = {.agent = {"agent-1", "PA_1", deliver, reader},
                .agent_track_sid = "TR_a",
                .caller_identity = "me",
                .caller_track_sid = "TR_c"},
    };
    packet_reader_init(&reader->packets, &events, reader);
    transcript_init(&reader->transcript);
    buf_init(&reader->log, 4096);
}

static void close_reader(struct reader *reader)
{
    packet_reader_clear(&reader->packets);
    transcript_clear(&reader->transcript);
    buf_clear(&reader->log);
}

static void say(struct reader *reader, const char *segment, const char *text, bool is_final)
{
    const struct room_transcript line = {
        .segment_id = segment, .text = text, .is_agent = true, .is_final = is_final};
    transcript_send(&reader->transcript, &reader->way, &line);
}

TEST(transcript_grows_the_agents_line)
{
    struct reader reader;
    open_reader(&reader);
    say(&reader, "SG_1", "Good ", false);
    say(&reader, "SG_1", "day.", true);
    CHECK_TEXT(reader.log.data, "agent-1 SG_1 'Good '\nagent-1 SG_1 'day.'\n"
                                "agent-1 SG_1 '' final\n");
    close_reader(&reader);
}

TEST(transcript_tells_who_comes_in_between_all_of_the_line)
{
    struct reader reader;
    open_reader(&reader);
    reader.way.caller_identity = NULL;
    say(&reader, "SG_1", "Good ", false);
    CHECK_INT(reader.log.len, 0);
    reader.way.caller_identity = "me";
    say(&reader, "SG_1", "day", false);
    transcript_restart(&reader.transcript);
    say(&reader, "SG_1", ".", true);
    CHECK_TEXT(reader.log.data, "agent-1 SG_1 'Good day'\nagent-1 SG_1 'Good day.'\n"
                                "agent-1 SG_1 '' final\n");
    close_reader(&reader);
}

TEST(transcript_ends_an_open_line_before_the_next)
{
    struct reader reader;
    open_reader(&reader);
    say(&reader, "SG_1", "One", false);
    say(&reader, "SG_2", "Two", true);
    CHECK_TEXT(reader.log.data, "agent-1 SG_1 'One'\nagent-1 SG_1 '' final\n"
                                "agent-1 SG_2 'Two'\nagent-1 SG_2 '' final\n");
    close_reader(&reader);
}

TEST(transcript_gives_each_version_of_the_callers_words_as_the_caller)
{
    struct reader reader;
    open_reader(&reader);
    struct room_transcript line = {.segment_id = "SG_3", .text = "I want"};
    transcript_send(&reader.transcript, &reader.way, &line);
    line.text = "I want tea.";
    line.is_final = true;
    transcript_send(&reader.transcript, &reader.way, &line);
    CHECK_TEXT(reader.log.data, "me SG_3 'I want'\nme SG_3 '' end\n"
                                "me SG_3 'I want tea.'\nme SG_3 '' final\n");
    close_reader(&reader);
}
