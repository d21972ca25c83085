/* Frames to sessions by number; what does not fit a session's kind is ignored. */
#include "session.h"

#include <string.h>

#include "base/attr.h"
#include "base/map.h"
#include "base/mem.h"
#include "hearing.h"
#include "link.h"
#include "speaking.h"

struct session {
    struct hearing *hearing; /* one of the two */
    struct speaking *speaking;
};

struct sessions {
    struct loop *loop;
    struct link *link;
    struct map *by_id;
};

static void session_free(struct session *session)
{
    hearing_free(session->hearing);
    speaking_free(session->speaking);
    mem_free(session);
}

static void tell_failed(struct sessions *sessions, uint32_t id, const struct fault *fault)
{
    link_send(sessions->link, &(struct voice_frame){.kind = VOICE_FAILED,
                                                    .session = id,
                                                    .body = fault->text,
                                                    .len = strlen(fault->text)});
}

static void open_session(struct sessions *sessions, const struct voice_frame *frame)
{
    struct fault fault = {0};
    AUTO_MEM char *text = mem_strndup(frame->body, frame->len);
    struct session *session = mem_new(struct session);
    enum err err =
        frame->kind == VOICE_OPEN_HEARING
            ? hearing_new(sessions->link, frame->session, text, &session->hearing, &fault)
            : speaking_new(sessions->loop, sessions->link, frame->session, text, &session->speaking,
                           &fault);
    if (err) {
        session_free(session);
        tell_failed(sessions, frame->session, &fault);
        return;
    }
    struct session *old =
        map_set(sessions->by_id, &frame->session, sizeof(frame->session), session);
    if (old)
        session_free(old);
    link_send(sessions->link,
              &(struct voice_frame){.kind = VOICE_READY, .session = frame->session});
}

static void push(struct session *session, const struct voice_frame *frame)
{
    if (session->hearing)
        hearing_push(session->hearing, frame->body, frame->len / sizeof(int16_t));
}

static void flush(struct session *session, const struct voice_frame *frame)
{
    if (session->hearing)
        hearing_flush(session->hearing, frame->gen);
}

static void speak(struct session *session, const struct voice_frame *frame)
{
    AUTO_MEM char *text = mem_strndup(frame->body, frame->len);
    if (session->speaking)
        speaking_speak(session->speaking, frame->gen, text);
}

static void cancel(struct session *session, const struct voice_frame *frame)
{
    (void)frame;
    if (session->speaking)
        speaking_cancel(session->speaking);
}

static const struct {
    enum voice_kind kind;
    void (*fn)(struct session *session, const struct voice_frame *frame);
} requests[] = {
    {VOICE_PUSH, push},
    {VOICE_FLUSH, flush},
    {VOICE_SPEAK, speak},
    {VOICE_CANCEL, cancel},
};

static void on_frame(void *arg, const struct voice_frame *frame)
{
    struct sessions *sessions = arg;
    if (frame->kind == VOICE_OPEN_HEARING || frame->kind == VOICE_OPEN_SPEAKING) {
        open_session(sessions, frame);
        return;
    }
    struct session *session = map_get(sessions->by_id, &frame->session, sizeof(frame->session));
    if (!session)
        return;
    if (frame->kind == VOICE_CLOSE) {
        map_remove(sessions->by_id, &frame->session, sizeof(frame->session));
        session_free(session);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(requests); i++)
        if (requests[i].kind == frame->kind)
            requests[i].fn(session, frame);
}

struct sessions *sessions_open(struct loop *loop, int fd)
{
    struct sessions *sessions = mem_new(struct sessions);
    sessions->loop = loop;
    sessions->by_id = map_new();
    sessions->link = link_open(loop, fd, on_frame, sessions);
    return sessions;
}

static int free_one(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg;
    (void)key;
    (void)key_len;
    session_free(value);
    return 0;
}

void sessions_close(struct sessions *sessions)
{
    map_each(sessions->by_id, free_one, NULL);
    map_free(sessions->by_id);
    link_close(sessions->link);
    mem_free(sessions);
}
