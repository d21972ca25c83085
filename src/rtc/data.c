/* DCEP over SCTP streams. Both directions of a channel use the same stream id. Labels are all that
 * the rooms go by, so ids are never interpreted beyond their parity. */
#include "rtc/data.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "rtc/sctp.h"
#include "rtc/sctp_wire.h"

enum {
    SCTP_PORT = 5000,
    OPEN_BYTES = 12, /* of DATA_CHANNEL_OPEN before label and protocol */
    DCEP_ACK = 2,
    DCEP_OPEN = 3
};

/* RFC 8831 section 8. */
enum ppid {
    PPID_DCEP = 50,
    PPID_TEXT = 51,
    PPID_BINARY = 53,
    PPID_TEXT_EMPTY = 56,
    PPID_BINARY_EMPTY = 57
};

/* RFC 8832 section 5.1: channel types; the top bit means unordered. */
enum channel_type {
    TYPE_RELIABLE = 0,
    TYPE_RETRANSMITS = 1,
    TYPE_TIMED = 2,
    TYPE_UNORDERED = 0x80
};

enum channel_state { CHANNEL_FREE, CHANNEL_OPENING, CHANNEL_OPEN, CHANNEL_CLOSING };

struct channel {
    enum channel_state state;
    struct data_channel_info info;
};

struct data {
    struct sctp *sctp;
    bool is_dtls_client;
    struct channel channels[DATA_CHANNELS];
};

_Static_assert((int)DATA_CHANNELS == (int)SCTP_STREAMS, "a channel is a stream");

struct data *data_new(const struct data_config *config)
{
    struct data *data = mem_new(struct data);
    data->is_dtls_client = config->is_dtls_client;
    data->sctp = sctp_new(&(struct sctp_config){
        .port = config->sctp_port ? config->sctp_port : SCTP_PORT,
        .mtu_bytes = config->mtu_bytes,
    });
    for (uint16_t i = 0; i < DATA_CHANNELS; i++)
        data->channels[i].info.id = i;
    return data;
}

void data_free(struct data *data)
{
    if (!data)
        return;
    sctp_free(data->sctp);
    mem_free(data);
}

void data_start(struct data *data, int64_t now_us)
{
    sctp_connect(data->sctp, now_us);
}

void data_input(struct data *data, const uint8_t *packet, size_t len, int64_t now_us)
{
    sctp_input(data->sctp, packet, len, now_us);
}

size_t data_output(struct data *data, uint8_t *out, size_t cap, int64_t now_us)
{
    return sctp_output(data->sctp, out, cap, now_us);
}

int64_t data_deadline_us(const struct data *data)
{
    return sctp_deadline_us(data->sctp);
}

static enum err send_dcep(struct data *data, uint16_t stream, const uint8_t *bytes, size_t len)
{
    struct sctp_send how = {.stream = stream, .ppid = PPID_DCEP};
    return sctp_send(data->sctp, &how, bytes, len);
}

/*     | type 3 | channel type | priority (16) | reliability (32) | label length (16) |
 *     | protocol length (16) | label | protocol |                                              */
static void input_open(struct data *data, struct channel *channel, const struct sctp_event *in,
                       struct data_event *out)
{
    static const uint8_t ack = DCEP_ACK;
    if (in->len < OPEN_BYTES || in->len < OPEN_BYTES + (size_t)sctp_get16(in->data + 8))
        return;
    size_t label_len = sctp_get16(in->data + 8);
    if (channel->state != CHANNEL_FREE || label_len >= DATA_LABEL_SIZE ||
        memchr(in->data + OPEN_BYTES, 0, label_len)) {
        sctp_reset_stream(data->sctp, in->stream);
        return;
    }
    uint8_t type = in->data[1];
    uint32_t reliability = sctp_get32(in->data + 4);
    struct data_channel_info *info = &channel->info;
    *info = (struct data_channel_info){.id = in->stream, .is_ordered = !(type & TYPE_UNORDERED)};
    info->has_retransmit_limit = (type & 3) == TYPE_RETRANSMITS;
    info->max_retransmits = (uint16_t)MIN(reliability, UINT16_MAX);
    memcpy(info->label, in->data + OPEN_BYTES, label_len);
    channel->state = CHANNEL_OPEN;
    if (send_dcep(data, in->stream, &ack, 1) != OK)
        log_debug("data.ack_not_sent", LOG_S("label", info->label));
    *out = (struct data_event){.type = DATA_EVENT_CHANNEL_OPEN, .channel = *info};
}

/* True when *out was filled. */
static bool input_dcep(struct data *data, struct channel *channel, const struct sctp_event *in,
                       struct data_event *out)
{
    out->type = DATA_EVENT_CLOSED;
    if (in->data[0] == DCEP_OPEN) {
        input_open(data, channel, in, out);
    } else if (in->data[0] == DCEP_ACK && channel->state == CHANNEL_OPENING) {
        channel->state = CHANNEL_OPEN;
        *out = (struct data_event){.type = DATA_EVENT_CHANNEL_OPEN, .channel = channel->info};
    }
    return out->type == DATA_EVENT_CHANNEL_OPEN;
}

static bool input_message(struct data *data, const struct sctp_event *in, struct data_event *out)
{
    struct channel *channel = &data->channels[in->stream];
    if (in->ppid == PPID_DCEP)
        return input_dcep(data, channel, in, out);
    if (channel->state == CHANNEL_FREE || channel->state == CHANNEL_CLOSING)
        return false;
    bool is_empty = in->ppid == PPID_TEXT_EMPTY || in->ppid == PPID_BINARY_EMPTY;
    if (!is_empty && in->ppid != PPID_TEXT && in->ppid != PPID_BINARY)
        return false;
    *out = (struct data_event){
        .type = DATA_EVENT_MESSAGE,
        .channel = channel->info,
        .bytes = in->data,
        .len = is_empty ? 0 : in->len,
        .is_binary = in->ppid == PPID_BINARY || in->ppid == PPID_BINARY_EMPTY,
    };
    return true;
}

/* The peer closed the channel: our direction is closed as well (RFC 8831 section 6.7). */
static bool input_reset(struct data *data, uint16_t stream, struct data_event *out)
{
    struct channel *channel = &data->channels[stream];
    bool was_open = channel->state == CHANNEL_OPEN || channel->state == CHANNEL_OPENING;
    if (was_open)
        sctp_reset_stream(data->sctp, stream);
    channel->state = CHANNEL_FREE;
    *out = (struct data_event){.type = DATA_EVENT_CHANNEL_CLOSED, .channel = channel->info};
    return was_open;
}

bool data_event(struct data *data, struct data_event *out)
{
    struct sctp_event in;
    while (sctp_event(data->sctp, &in)) {
        if (in.type == SCTP_EVENT_MESSAGE && input_message(data, &in, out))
            return true;
        if (in.type == SCTP_EVENT_RESET && input_reset(data, in.stream, out))
            return true;
        if (in.type == SCTP_EVENT_CLOSED) {
            *out = (struct data_event){.type = DATA_EVENT_CLOSED, .reason = in.reason};
            return true;
        }
    }
    return false;
}

enum err data_open(struct data *data, const char *label, bool is_ordered, int max_retransmits,
                   uint16_t *out_id)
{
    size_t len = strlen(label);
    if (len >= DATA_LABEL_SIZE)
        return ERR_INVALID;
    uint16_t id = data->is_dtls_client ? 0 : 1;
    while (id < DATA_CHANNELS && data->channels[id].state != CHANNEL_FREE)
        id = (uint16_t)(id + 2);
    if (id >= DATA_CHANNELS)
        return ERR_LIMIT;
    uint8_t open[OPEN_BYTES + DATA_LABEL_SIZE] = {DCEP_OPEN};
    open[1] = (uint8_t)((max_retransmits >= 0 ? TYPE_RETRANSMITS : TYPE_RELIABLE) |
                        (is_ordered ? 0 : TYPE_UNORDERED));
    sctp_put32(open + 4, max_retransmits >= 0 ? (uint32_t)max_retransmits : 0);
    sctp_put16(open + 8, (uint16_t)len);
    memcpy(open + OPEN_BYTES, label, len);
    enum err err = send_dcep(data, id, open, OPEN_BYTES + len);
    if (err)
        return err;
    struct data_channel_info *info = &data->channels[id].info;
    *info = (struct data_channel_info){.id = id, .is_ordered = is_ordered};
    info->has_retransmit_limit = max_retransmits >= 0;
    info->max_retransmits = (uint16_t)MAX(max_retransmits, 0);
    memcpy(info->label, label, len);
    data->channels[id].state = CHANNEL_OPENING;
    *out_id = id;
    return OK;
}

static bool is_usable(const struct channel *channel)
{
    return channel->state == CHANNEL_OPENING || channel->state == CHANNEL_OPEN;
}

enum err data_send(struct data *data, uint16_t id, const void *bytes, size_t len, bool is_binary)
{
    if (id >= DATA_CHANNELS || !is_usable(&data->channels[id]))
        return ERR_NOT_FOUND;
    const struct channel *channel = &data->channels[id];
    struct sctp_send how = {
        .stream = id,
        .ppid = is_binary ? PPID_BINARY : PPID_TEXT,
        /* RFC 8832 section 6: ordered until the ACK has come. */
        .is_unordered = !channel->info.is_ordered && channel->state == CHANNEL_OPEN,
        .has_retransmit_limit = channel->info.has_retransmit_limit,
        .max_retransmits = channel->info.max_retransmits,
    };
    if (len > 0)
        return sctp_send(data->sctp, &how, bytes, len);
    how.ppid = is_binary ? PPID_BINARY_EMPTY : PPID_TEXT_EMPTY;
    return sctp_send(data->sctp, &how, "", 1); /* RFC 8831 section 6.6 */
}

enum err data_find(const struct data *data, const char *label, uint16_t *out_id)
{
    for (uint16_t i = 0; i < DATA_CHANNELS; i++) {
        if (!is_usable(&data->channels[i]) || strcmp(data->channels[i].info.label, label) != 0)
            continue;
        *out_id = i;
        return OK;
    }
    return ERR_NOT_FOUND;
}

void data_close_channel(struct data *data, uint16_t id)
{
    if (id >= DATA_CHANNELS || !is_usable(&data->channels[id]))
        return;
    data->channels[id].state = CHANNEL_CLOSING;
    sctp_reset_stream(data->sctp, id);
}

void data_abort(struct data *data)
{
    sctp_abort(data->sctp);
}
