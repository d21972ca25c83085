#include "room/join.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/crypto.h"
#include "room/livekit.pb-c.h"
#include "test.h"

static enum err parse(const char *query, bool is_v1, struct join_request *out)
{
    struct fault fault = {0};
    enum err err = join_parse(query, is_v1, out, &fault);
    if (err)
        CHECK(fault.text[0] != 0);
    return err;
}

static size_t gzip(const uint8_t *data, size_t len, uint8_t *out, size_t cap)
{
    z_stream zip = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)len};
    CHECK_INT(deflateInit2(&zip, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    zip.next_out = out;
    zip.avail_out = (uInt)cap;
    CHECK_INT(deflate(&zip, Z_FINISH), Z_STREAM_END);
    deflateEnd(&zip);
    return cap - zip.avail_out;
}

/* Appends "join_request=..." with the message, zipped or not. */
static void write_query(const uint8_t *inner, size_t len, bool is_zipped, struct buf *out)
{
    static uint8_t zipped[65536];
    uint8_t bytes[32768];
    Lk__WrappedJoinRequest wrapped = LK__WRAPPED_JOIN_REQUEST__INIT;
    wrapped.compression = is_zipped;
    wrapped.join_request.data = (uint8_t *)(uintptr_t)inner;
    wrapped.join_request.len = len;
    if (is_zipped) {
        wrapped.join_request.len = gzip(inner, len, zipped, sizeof(zipped));
        wrapped.join_request.data = zipped;
    }
    size_t size = lk__wrapped_join_request__pack(&wrapped, bytes);
    buf_append_str(out, "access_token=x&join_request=");
    base64url_encode(bytes, size, out);
}

static void write_join(Lk__JoinRequest *join, bool is_zipped, struct buf *out)
{
    uint8_t inner[8192];
    size_t len = lk__join_request__pack(join, inner);
    write_query(inner, len, is_zipped, out);
}

TEST(join_reads_the_old_parameters)
{
    struct join_request request = {0};
    CHECK_INT(parse("auto_subscribe=0&reconnect=1&sid=PA_abc", false, &request), OK);
    CHECK(!request.is_single_pc && request.is_reconnect && !request.wants_audio);
    CHECK_TEXT(request.participant_sid, "PA_abc");
    CHECK_INT(parse(NULL, false, &request), OK);
    CHECK(request.wants_audio && !request.is_reconnect);
    CHECK_INT(parse("sid=12345678901234567890123456789012345678901234567890", false, &request),
              ERR_INVALID);
}

TEST(join_reads_a_request_zipped_or_plain)
{
    for (int is_zipped = 0; is_zipped <= 1; is_zipped++) {
        AUTO_BUF query = BUF_INIT(65536);
        struct join_request request = {0};
        Lk__ConnectionSettings settings = LK__CONNECTION_SETTINGS__INIT;
        Lk__JoinRequest join = LK__JOIN_REQUEST__INIT;
        char sid[] = "PA_1";
        settings.auto_subscribe = true;
        join.connection_settings = &settings;
        join.reconnect = true;
        join.participant_sid = sid;
        write_join(&join, is_zipped, &query);
        CHECK_INT(parse(query.data, true, &request), OK);
        CHECK(request.is_single_pc && request.is_reconnect && request.wants_audio);
        CHECK_TEXT(request.participant_sid, "PA_1");
        join_clear(&request);
        CHECK_INT(parse(query.data, false, &request), OK); /* on /rtc it means one PC as well */
        CHECK(request.is_single_pc);
        join_clear(&request);
    }
}

TEST(join_without_settings_wants_no_audio)
{
    AUTO_BUF query = BUF_INIT(65536);
    struct join_request request = {0};
    Lk__JoinRequest join = LK__JOIN_REQUEST__INIT;
    write_join(&join, true, &query);
    CHECK_INT(parse(query.data, true, &request), OK);
    CHECK(!request.wants_audio);
    join_clear(&request);
}

TEST(join_refuses_what_is_broken_or_too_large)
{
    static uint8_t zeros[JOIN_REQUEST_MAX_BYTES + 1];
    AUTO_BUF query = BUF_INIT(1 << 20);
    struct join_request request = {0};
    CHECK_INT(parse(NULL, true, &request), ERR_INVALID);
    CHECK_INT(parse("join_request=", true, &request), ERR_INVALID);
    CHECK_INT(parse("join_request=%zz", true, &request), ERR_INVALID);
    CHECK_INT(parse("join_request=***", true, &request), ERR_INVALID);
    write_query(zeros, sizeof(zeros), true, &query);
    CHECK_INT(parse(query.data, true, &request), ERR_LIMIT);
    buf_reset(&query);
    write_query((const uint8_t *)"\xff\xff\xff", 3, false, &query);
    CHECK_INT(parse(query.data, true, &request), ERR_INVALID);
    buf_reset(&query);
    buf_append_str(&query, "join_request=");
    while (query.len < 2 * JOIN_PARAM_MAX_BYTES)
        buf_append_char(&query, 'A');
    CHECK_INT(parse(query.data, true, &request), ERR_LIMIT);
}

TEST(join_refuses_a_broken_offer)
{
    static const char *const texts[] = {"", "v=0", "v=0\r\no=- 1 1 IN IP4 0\r\n"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO_BUF query = BUF_INIT(65536);
        struct join_request request = {0};
        Lk__SessionDescription offer = LK__SESSION_DESCRIPTION__INIT;
        Lk__JoinRequest join = LK__JOIN_REQUEST__INIT;
        offer.sdp = (char *)(uintptr_t)texts[i];
        join.publisher_offer = &offer;
        write_join(&join, true, &query);
        CHECK_INT(parse(query.data, true, &request), ERR_INVALID);
    }
}
