/* Messages made of many small pieces. */
#include "room/unpack.h"

#include <string.h>

#include "base/buf.h"
#include "room/livekit.pb-c.h"
#include "test.h"

enum { SUBSCRIPTION_TAG = 6 << 3 | 2, SIDS_TAG = 1 << 3 | 2, MANY = 30000 };

/* A SignalRequest whose subscription names `count` empty tracks. */
static void write_subscription(struct buf *out, size_t count)
{
    AUTO_BUF inner = BUF_INIT(4 * MANY);
    for (size_t i = 0; i < count; i++) {
        buf_append_char(&inner, SIDS_TAG);
        buf_append_char(&inner, 0);
    }
    buf_append_char(out, SUBSCRIPTION_TAG);
    for (size_t left = inner.len;; left >>= 7) {
        buf_append_char(out, (char)((left & 0x7F) | (left > 0x7F ? 0x80 : 0)));
        if (left <= 0x7F)
            break;
    }
    buf_append(out, inner.data, inner.len);
}

static Lk__SignalRequest *unpack(const struct buf *bytes)
{
    return unpack_message(&lk__signal_request__descriptor, (const uint8_t *)bytes->data,
                          bytes->len);
}

TEST(unpack_takes_what_clients_send)
{
    AUTO_BUF bytes = BUF_INIT(4 * MANY);
    write_subscription(&bytes, 500);
    Lk__SignalRequest *request = unpack(&bytes);
    REQUIRE(request != NULL);
    CHECK_INT(request->message_case, LK__SIGNAL_REQUEST__MESSAGE_SUBSCRIPTION);
    CHECK_INT(request->subscription->n_track_sids, 500);
    lk__signal_request__free_unpacked(request, NULL);
}

TEST(unpack_refuses_many_small_pieces)
{
    AUTO_BUF bytes = BUF_INIT(4 * MANY);
    write_subscription(&bytes, MANY);
    CHECK(unpack(&bytes) == NULL);
    buf_reset(&bytes);
    for (int i = 0; i < MANY; i++) { /* the list of fields alone */
        buf_append_char(&bytes, 14 << 3);
        buf_append_char(&bytes, 1);
    }
    CHECK(unpack(&bytes) == NULL);
}

/* Every number of pieces up to the ceiling: nothing is lost or freed twice where it is met. */
TEST(unpack_gives_back_what_it_took)
{
    for (size_t count = UNPACK_PIECES - 20; count < UNPACK_PIECES + 20; count++) {
        AUTO_BUF bytes = BUF_INIT(4 * MANY);
        write_subscription(&bytes, count);
        Lk__SignalRequest *request = unpack(&bytes);
        CHECK(count < UNPACK_PIECES || !request);
        if (request)
            lk__signal_request__free_unpacked(request, NULL);
    }
}
