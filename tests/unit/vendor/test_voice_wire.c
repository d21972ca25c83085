#include "vendor/voice_wire.h"

#include "test.h"

TEST(voice_wire_reads_what_it_wrote_byte_by_byte)
{
    struct buf out = BUF_INIT(4096);
    static const struct voice_frame frames[] = {{VOICE_OPEN_HEARING, 1, 0, "words", 5},
                                                {VOICE_FLUSH, 2, 77, NULL, 0},
                                                {VOICE_DONE, 3, 1, "x", 1}};
    for (size_t i = 0; i < ARRAY_LEN(frames); i++)
        CHECK_INT(voice_frame_write(&frames[i], &out), OK);
    size_t at = 0, count = 0;
    for (size_t len = 0; len <= out.len; len++) {
        struct voice_frame frame;
        size_t used = 0;
        enum err err = voice_frame_read(out.data + at, len - at, &frame, &used);
        if (err == ERR_AGAIN)
            continue;
        REQUIRE(err == OK && count < ARRAY_LEN(frames));
        CHECK_INT(frame.kind, frames[count].kind);
        CHECK_INT(frame.session, frames[count].session);
        CHECK_INT(frame.gen, frames[count].gen);
        CHECK_INT(frame.len, frames[count].len);
        CHECK(frame.len == 0 || memcmp(frame.body, frames[count].body, frame.len) == 0);
        at += used;
        count++;
    }
    CHECK_INT(count, ARRAY_LEN(frames));
    buf_clear(&out);
}

TEST(voice_wire_refuses_what_cannot_be)
{
    static const uint32_t bad[][4] = {
        {VOICE_BODY_MAX_BYTES + 1, VOICE_PUSH, 1, 1}, {0, 0, 1, 1}, {0, VOICE_KIND_END, 1, 1}};
    struct voice_frame frame;
    size_t used;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_INT(voice_frame_read((const char *)bad[i], sizeof(bad[i]), &frame, &used),
                  ERR_INVALID);
    struct buf out = BUF_INIT(64);
    frame = (struct voice_frame){VOICE_PUSH, 1, 1, NULL, VOICE_BODY_MAX_BYTES + 1};
    CHECK_INT(voice_frame_write(&frame, &out), ERR_LIMIT);
    frame = (struct voice_frame){VOICE_PUSH, 1, 1, bad, 60};
    CHECK_INT(voice_frame_write(&frame, &out), ERR_LIMIT);
    CHECK_INT(out.len, 0);
    buf_clear(&out);
}
