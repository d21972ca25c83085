#include "api/stream.h"

#include <string.h>

#include "api/admission.h"
#include "api/internal.h"
#include "api/request.h"
#include "api/send.h"
#include "api/sign_in.h"
#include "base/loop.h"
#include "base/mem.h"
#include "call/calls.h"

enum {
    LOOK_US = 1000 * 1000, /* has the client left; and where the call is another node's, for news */
    BEAT_LOOKS = 5,        /* a sign of life, so that no proxy takes the stream for dead */
    LIVE_MAX_BYTES = 512 * 1024,
};

struct recheck { /* outlives its stream while the key is looked up */
    struct stream *stream;
};

struct stream {
    struct list_node node;
    struct request *request;
    struct calls_watch *watch; /* NULL: the call is on another node, or over */
    struct timer look, wake;   /* wake: told from inside calls/, acted on outside */
    struct buf live;           /* events that are not stored */
    char *key;
    struct recheck *recheck;
    unsigned looks;
    bool is_waiting; /* a piece is wanted */
    bool has_news, is_beat, is_over;
    bool is_beat_due; /* once the key was found to be good */
    bool is_stale;    /* keys have changed since this one was looked at */
    bool has_looked;  /* since on_look() came */
};

static void on_wake(void *arg)
{
    struct stream *stream = arg;
    if (!stream->is_waiting)
        return;
    if (stream->is_over) {
        send_end(stream->request);
    } else if (stream->has_news || stream->is_beat) {
        stream->is_waiting = stream->has_news = false;
        send_piece(stream->request);
    }
}

static void on_news(void *arg, enum call_news news, const char *text)
{
    struct stream *stream = arg;
    if (news == CALL_NEWS_STATE)
        buf_printf(&stream->live, "event: state\ndata: {\"state\":\"%s\"}\n\n", text);
    else if (news == CALL_NEWS_PASSAGES)
        buf_printf(&stream->live, "event: passages\ndata: %s\n\n", text);
    stream->has_news = true;
    timer_set_after(&stream->wake, 0);
}

static void end(struct stream *stream)
{
    stream->is_over = true;
    timer_set_after(&stream->wake, 0);
}

static void look_at_key(struct stream *stream);

/* A key that was revoked, a session that was ended, sees no more of it. */
static void on_key(void *arg, enum err err, const struct principal *principal)
{
    struct recheck *recheck = arg;
    struct stream *stream = recheck->stream;
    mem_free(recheck);
    if (!stream)
        return;
    stream->recheck = NULL;
    if (!err && !principal) {
        end(stream);
        return;
    }
    stream->is_beat |= stream->is_beat_due;
    stream->is_beat_due = false;
    timer_set_after(&stream->wake, 0);
    if (err)
        stream->is_stale = true; /* on_look() asks again */
    else if (stream->is_stale)
        look_at_key(stream); /* they changed while it was looked up */
}

static void look_at_key(struct stream *stream)
{
    const struct request *request = stream->request;
    if (stream->recheck)
        return;
    stream->is_stale = false;
    stream->has_looked = true;
    stream->recheck = mem_new(struct recheck);
    stream->recheck->stream = stream;
    keys_find(request->api->keys, stream->key, request->who.admitted.site, on_key, stream->recheck);
}

static void on_look(void *arg)
{
    struct stream *stream = arg;
    timer_set_after(&stream->look, LOOK_US);
    stream->has_looked = false;
    if (stream->is_waiting) {
        if (http_exchange_is_gone(stream->request->exchange))
            end(stream);
        stream->is_beat_due |= ++stream->looks % BEAT_LOOKS == 0;
        stream->has_news |= !stream->watch;
        timer_set_after(&stream->wake, 0);
    }
    if (stream->is_beat_due || stream->is_stale)
        look_at_key(stream);
}

/* As api.c has found it. */
static const char *key_of(struct request *request)
{
    const char *header = request_header(request, "Authorization");
    if (!header)
        return request_session(request);
    const char *key = header + strcspn(header, " ");
    return key + strspn(key, " ");
}

bool stream_begin(struct request *request)
{
    struct api *api = request->api;
    if (!admission_take(api->admission, &request->who.admitted, SHARE_STREAMS, 1)) {
        request_error_says(request, API_RATE_LIMITED, "too many calls are being watched");
        answer_header(&request->answer, "Retry-After", "5");
        return false;
    }
    admission_give(api->admission, &request->who.admitted, SHARE_PLACES);
    struct stream *stream = request->stream = mem_new(struct stream);
    stream->request = request;
    stream->has_news = true; /* what came while the first piece was read */
    stream->key = mem_strdup(key_of(request));
    buf_init(&stream->live, LIVE_MAX_BYTES);
    timer_init(&stream->look, api->deps.control, on_look, stream);
    timer_init(&stream->wake, api->deps.control, on_wake, stream);
    timer_set_after(&stream->look, LOOK_US);
    list_push_back(&api->streams, &stream->node);
    stream->watch = calls_watch(api->deps.calls, request->head.params[0], on_news, stream);
    look_at_key(stream); /* news that came between are not told to it */
    return true;
}

void stream_free(struct stream *stream)
{
    if (!stream)
        return;
    if (stream->recheck)
        stream->recheck->stream = NULL;
    calls_unwatch(stream->watch);
    timer_stop(&stream->look);
    timer_stop(&stream->wake);
    list_remove(&stream->node);
    buf_clear(&stream->live);
    mem_free(stream->key);
    mem_free(stream);
}

void stream_wait(struct stream *stream)
{
    stream->is_waiting = true;
    timer_set_after(&stream->wake, 0); /* not from inside the server */
}

bool stream_fill(struct stream *stream)
{
    struct buf *body = &stream->request->answer.body;
    if (stream->live.is_full)
        body->is_full = true; /* its reader is too slow for it */
    buf_append(body, stream->live.data ? stream->live.data : "", stream->live.len);
    buf_clear(&stream->live);
    if (stream->is_beat && body->len == 0)
        buf_append_str(body, ": still here\n\n");
    stream->is_beat = false;
    stream->has_news |= request_piece_is_full(stream->request); /* there may be more to read */
    if (body->len > 0)
        return true;
    stream_wait(stream);
    return false;
}

void streams_end(struct list_node *streams)
{
    struct stream *stream;
    LIST_EACH (stream, streams, struct stream, node)
        end(stream);
}

/* At once, and after that when on_look() comes: who changes theirs without end, as anybody may with
 * sessions of their own, costs the others' streams a look a second. */
void streams_look(void *arg)
{
    struct list_node *streams = arg;
    struct stream *stream;
    LIST_EACH (stream, streams, struct stream, node) {
        stream->is_stale = true;
        if (!stream->has_looked)
            look_at_key(stream);
    }
}
