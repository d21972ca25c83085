#include "room/join.h"

#include <string.h>
#include <zlib.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "net/http_server.h"
#include "net/url.h"
#include "room/livekit.pb-c.h"
#include "room/unpack.h"
#include "rtc/sdp.h"

enum { COMPRESSION_NONE = 0, COMPRESSION_GZIP = 1, GZIP_OR_ZLIB = 15 + 32 };

static enum err inflate_request(const ProtobufCBinaryData *data, struct buf *out)
{
    z_stream zip = {.next_in = data->data, .avail_in = (uInt)data->len};
    if (inflateInit2(&zip, GZIP_OR_ZLIB) != Z_OK)
        return ERR_INTERNAL;
    int result = Z_OK;
    enum err err = OK;
    while (result == Z_OK && !err) {
        unsigned char piece[4096];
        zip.next_out = piece;
        zip.avail_out = sizeof(piece);
        result = inflate(&zip, Z_NO_FLUSH);
        err = buf_append(out, piece, sizeof(piece) - zip.avail_out);
    }
    inflateEnd(&zip);
    if (err)
        return err;
    return result == Z_STREAM_END ? OK : ERR_INVALID;
}

/* The parameter as it stands in the query: base64 (either alphabet) of a WrappedJoinRequest. */
static enum err unwrap(const struct buf *param, struct buf *out, struct fault *fault)
{
    AUTO_BUF bytes = BUF_INIT(JOIN_PARAM_MAX_BYTES);
    if (base64_decode(param->data, param->len, &bytes) != OK)
        return fault_set(fault, ERR_INVALID, "could not base64 decode join request");
    Lk__WrappedJoinRequest *wrapped = unpack_message(&lk__wrapped_join_request__descriptor,
                                                     (const uint8_t *)bytes.data, bytes.len);
    if (!wrapped)
        return fault_set(fault, ERR_INVALID, "could not unmarshal wrapped join request");
    enum err err = ERR_UNSUPPORTED;
    if (wrapped->compression == COMPRESSION_NONE)
        err = buf_append(out, wrapped->join_request.data, wrapped->join_request.len);
    else if (wrapped->compression == COMPRESSION_GZIP)
        err = inflate_request(&wrapped->join_request, out);
    lk__wrapped_join_request__free_unpacked(wrapped, NULL);
    if (err == ERR_LIMIT)
        return fault_set(fault, ERR_LIMIT, "join request is too large");
    if (err == ERR_UNSUPPORTED)
        return fault_set(fault, ERR_INVALID, "unknown compression of join request");
    return err ? fault_set(fault, ERR_INVALID, "could not decompress join request") : OK;
}

static enum err check_offer(const Lk__JoinRequest *message, struct fault *fault)
{
    if (!message->publisher_offer)
        return OK;
    AUTO(sdp) sdp = sdp_new();
    const struct sdp_transport *transport;
    const char *text = message->publisher_offer->sdp;
    enum err err = sdp_parse(text, strlen(text), sdp, fault);
    return err ? err : sdp_bundle_transport(sdp, &transport, fault);
}

static enum err parse_v1(const struct buf *param, struct join_request *out, struct fault *fault)
{
    AUTO_BUF bytes = BUF_INIT(JOIN_REQUEST_MAX_BYTES);
    enum err err = unwrap(param, &bytes, fault);
    if (err)
        return err;
    Lk__JoinRequest *message =
        unpack_message(&lk__join_request__descriptor, (const uint8_t *)bytes.data, bytes.len);
    if (!message)
        return fault_set(fault, ERR_INVALID, "could not unmarshal join request");
    err = check_offer(message, fault);
    if (!err && strlen(message->participant_sid) >= ID_SIZE)
        err = fault_set(fault, ERR_INVALID, "bad participant sid");
    if (err) {
        lk__join_request__free_unpacked(message, NULL);
        return err;
    }
    *out = (struct join_request){
        .is_single_pc = true,
        .is_reconnect = message->reconnect,
        .wants_audio = message->connection_settings && message->connection_settings->auto_subscribe,
        .message = message,
    };
    memcpy(out->participant_sid, message->participant_sid, strlen(message->participant_sid));
    return OK;
}

static bool is_true(const char *query, const char *name, bool standard)
{
    AUTO_BUF value = BUF_INIT(16);
    if (url_query_get(query, name, &value) != OK || value.len == 0)
        return standard;
    return strcmp(value.data, "1") == 0 || strcmp(value.data, "true") == 0;
}

static enum err parse_v0(const char *query, struct join_request *out, struct fault *fault)
{
    AUTO_BUF sid = BUF_INIT(ID_SIZE - 1);
    enum err err = url_query_get(query, "sid", &sid);
    if (err && err != ERR_NOT_FOUND)
        return fault_set(fault, ERR_INVALID, "bad participant sid");
    *out = (struct join_request){
        .is_reconnect = is_true(query, "reconnect", false),
        .wants_audio = is_true(query, "auto_subscribe", true),
    };
    if (sid.len)
        memcpy(out->participant_sid, sid.data, sid.len);
    return OK;
}

enum err join_parse(const char *query, bool is_v1, struct join_request *out, struct fault *fault)
{
    AUTO_BUF param = BUF_INIT(JOIN_PARAM_MAX_BYTES);
    enum err err = url_query_get(query, "join_request", &param);
    if (err == ERR_LIMIT)
        return fault_set(fault, ERR_LIMIT, "join_request is too large");
    if (!err && param.len > 0)
        return parse_v1(&param, out, fault);
    if (is_v1 || err == ERR_INVALID)
        return fault_set(fault, ERR_INVALID, "missing join_request");
    return parse_v0(query, out, fault);
}

void join_clear(struct join_request *request)
{
    if (request->message)
        lk__join_request__free_unpacked(request->message, NULL);
    request->message = NULL;
}

void room_join_free(struct room_join *join)
{
    if (!join)
        return;
    stream_state_clear(&join->connection);
    token_clear(&join->token);
    join_clear(&join->request);
    mem_free(join);
}

void room_join_refuse(struct room_join *take_join, struct loop *loop, int status, const char *text)
{
    AUTO(room_join) join = take_join;
    AUTO_BUF answer = BUF_INIT(1024);
    buf_printf(&answer,
               "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
               "Access-Control-Allow-Origin: *\r\nContent-Length: %zu\r\n"
               "Connection: close\r\n\r\n%s",
               status, http_reason(status), strlen(text), text);
    struct stream *stream = stream_attach(loop, &join->connection);
    if (stream_write(stream, answer.data, answer.len) != OK)
        stream_abort(stream);
    else
        stream_close(stream);
}
