/* WebRTC data channels over one SCTP association: DCEP OPEN and ACK (RFC 8832), channels found by
 * label, messages of text or binary up to 64 KB (RFC 8831). Sans-I/O; datagrams are DTLS
 * application data. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct data;

enum { DATA_CHANNELS = 16, DATA_LABEL_SIZE = 64 };

struct data_config {
    bool is_dtls_client; /* opens channels with even stream ids, else odd */
    uint16_t sctp_port;  /* of both sides; 0: 5000 */
    size_t mtu_bytes;    /* 0: 1,200 */
};

struct data_channel_info {
    uint16_t id;
    char label[DATA_LABEL_SIZE];
    bool is_ordered;
    bool has_retransmit_limit;
    uint16_t max_retransmits;
};

enum data_event_type {
    DATA_EVENT_CHANNEL_OPEN,   /* by the peer, or ours was acknowledged */
    DATA_EVENT_MESSAGE,        /* bytes borrowed until the next call of any function */
    DATA_EVENT_CHANNEL_CLOSED, /* the peer has reset it */
    DATA_EVENT_CLOSED          /* the association has ended; the last event */
};

struct data_event {
    enum data_event_type type;
    struct data_channel_info channel;
    const uint8_t *bytes;
    size_t len;
    bool is_binary;
    const char *reason; /* CLOSED */
};

struct data *data_new(const struct data_config *config);
void data_free(struct data *data);
DEFINE_AUTO(data)

void data_start(struct data *data, int64_t now_us); /* DTLS is up: sends INIT */
void data_input(struct data *data, const uint8_t *packet, size_t len, int64_t now_us);
size_t data_output(struct data *data, uint8_t *out, size_t cap, int64_t now_us);
int64_t data_deadline_us(const struct data *data);
bool data_event(struct data *data, struct data_event *out);

/* Opens a channel; messages may be sent at once. Also before data_start().
 * max_retransmits: -1 unlimited. ERR_LIMIT: no stream is free. ERR_INVALID: the label is too long.
 */
enum err data_open(struct data *data, const char *label, bool is_ordered, int max_retransmits,
                   uint16_t *out_id) MUST_USE;
/* Copies. ERR_NOT_FOUND: no such channel. ERR_LIMIT: too large, or too much is queued. */
enum err data_send(struct data *data, uint16_t id, const void *bytes, size_t len,
                   bool is_binary) MUST_USE;
/* The first open channel of that label. ERR_NOT_FOUND. */
enum err data_find(const struct data *data, const char *label, uint16_t *out_id) MUST_USE;
void data_close_channel(struct data *data, uint16_t id);
void data_abort(struct data *data); /* tells the peer that the association is over */
