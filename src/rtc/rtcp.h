/* RTCP: reports, source descriptions, BYE and generic NACK (RFC 3550 section 6, RFC 4585 section
 * 6.2.1), compound or reduced-size (RFC 5506). A reader that hands out one item after the other,
 * and a writer. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

enum { RTCP_MAX_BYTES = 512, RTCP_NACK_MAX = 64 /* sequence numbers of one packet */ };

enum rtcp_type {
    RTCP_SENDER_REPORT = 200, /* sender part; its blocks follow as RTCP_REPORT_BLOCK */
    RTCP_RECEIVER_REPORT = 201,
    RTCP_DESCRIPTION = 202,
    RTCP_BYE = 203,
    RTCP_NACK = 205,
    RTCP_REPORT_BLOCK = 256, /* ours: a block of a report */
    RTCP_OTHER = 257         /* skipped */
};

struct rtcp_sender_report {
    uint64_t ntp; /* 32.32 seconds */
    uint32_t timestamp, packets, bytes;
};

struct rtcp_report_block {
    uint32_t ssrc;
    uint8_t fraction_lost; /* of 256, since the last report */
    int32_t total_lost;    /* 24 bits, signed */
    uint32_t highest_sequence;
    uint32_t jitter;                  /* timestamp units */
    uint32_t last_sr, delay_since_sr; /* middle of ntp; 1/65536 s */
};

struct rtcp_item {
    enum rtcp_type type;
    uint32_t sender; /* SSRC of the packet */
    struct rtcp_sender_report report;
    struct rtcp_report_block block;
    uint32_t media; /* NACK: whose packets */
    unsigned count; /* NACK */
    uint16_t lost[RTCP_NACK_MAX];
};

struct rtcp_reader {
    const uint8_t *data;
    size_t len, at;               /* at: the next packet */
    size_t block_at, blocks_left; /* within the current report */
    uint32_t sender;
};

/* ERR_INVALID: the chain of lengths does not end with the datagram. */
enum err rtcp_begin(struct rtcp_reader *reader, const uint8_t *data, size_t len) MUST_USE;
bool rtcp_next(struct rtcp_reader *reader, struct rtcp_item *out);

/* Puts add a packet; what does not fit sets is_full and adds nothing. */
struct rtcp_writer {
    uint8_t *data;
    size_t len, cap;
    bool is_full;
};

void rtcp_put_report(struct rtcp_writer *writer, uint32_t sender,
                     const struct rtcp_sender_report *report, /* NULL: a receiver report */
                     const struct rtcp_report_block *blocks, unsigned count);
void rtcp_put_cname(struct rtcp_writer *writer, uint32_t sender, const char *cname);
void rtcp_put_bye(struct rtcp_writer *writer, uint32_t sender);
