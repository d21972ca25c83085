/* Both ends are of one build, so there is no version and no byte order. */
#include "vendor/voice_wire.h"

#include <string.h>

enum err voice_frame_write(const struct voice_frame *frame, struct buf *out)
{
    uint32_t header[] = {(uint32_t)frame->len, frame->kind, frame->session, frame->gen};
    _Static_assert(sizeof(header) == VOICE_HEADER_BYTES, "as drawn");
    if (frame->len > VOICE_BODY_MAX_BYTES || buf_reserve(out, sizeof(header) + frame->len) != OK)
        return ERR_LIMIT;
    enum err err = buf_append(out, header, sizeof(header));
    return err ? err : buf_append(out, frame->body, frame->len);
}

enum err voice_frame_read(const char *data, size_t len, struct voice_frame *out, size_t *out_used)
{
    uint32_t header[VOICE_HEADER_BYTES / sizeof(uint32_t)];
    if (len < sizeof(header))
        return ERR_AGAIN;
    memcpy(header, data, sizeof(header));
    if (header[0] > VOICE_BODY_MAX_BYTES || header[1] == 0 || header[1] >= VOICE_KIND_END)
        return ERR_INVALID;
    if (len - sizeof(header) < header[0])
        return ERR_AGAIN;
    *out = (struct voice_frame){.kind = (enum voice_kind)header[1],
                                .session = header[2],
                                .gen = header[3],
                                .body = data + sizeof(header),
                                .len = header[0]};
    *out_used = sizeof(header) + header[0];
    return OK;
}
