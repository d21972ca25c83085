#include "abuse_kinds.h"

#include "base/attr.h"

#define PEER(name_, what_, prepare_)                                                               \
    {                                                                                              \
        name_, what_, peer_begin, prepare_, peer_give, peer_end                                    \
    }
#define SCTP(name_, what_, prepare_)                                                               \
    {                                                                                              \
        name_, what_, sctp_begin, prepare_, sctp_give, sctp_end                                    \
    }

const struct abuse_kind abuse_kinds[] = {
    {"sctp-text", "a chat message of 1,000 bytes, the ordinary case", sctp_begin, sctp_prepare_text,
     sctp_give, sctp_end, .is_ordinary = true},
    SCTP("sctp-forward", "FORWARD-TSN that names 280 streams over a full queue",
         sctp_prepare_forward),
    SCTP("sctp-forwards", "a packet of 90 FORWARD-TSN chunks over a full queue",
         sctp_prepare_forwards),
    SCTP("sctp-endless", "57 fragments of one byte of a message without end", sctp_prepare_endless),
    SCTP("sctp-reversed", "the one chunk that makes a full queue whole, in reversed order",
         sctp_prepare_reversed),
    SCTP("sctp-sack", "SACK of 280 gap blocks over all that we may have in flight",
         sctp_prepare_sack),
    SCTP("sctp-sacks", "a packet of 70 SACK chunks over all that we may have in flight",
         sctp_prepare_sacks),
    SCTP("sctp-cookies", "a packet of 22 COOKIE ECHO chunks", sctp_prepare_cookies),
    SCTP("sctp-resets", "RE-CONFIG that resets 280 streams", sctp_prepare_resets),
    {"stun-check", "a check, the ordinary case", peer_begin, peer_prepare_check, peer_give,
     peer_end, .is_ordinary = true},
    PEER("stun-long", "a check with 300 attributes that we do not know", peer_prepare_long_check),
    PEER("stun-forged", "the same, with another password", peer_prepare_forged_check),
    {"dtls-hello", "the ClientHello: keys are made and signed for, once a connection", peer_begin,
     peer_prepare_hello, peer_give, peer_end, .is_once = true},
    PEER("dtls-records", "53 handshake records that lead nowhere", peer_prepare_records),
    {"rtp-audio", "a packet of audio, the ordinary case (without decoding)", peer_begin,
     media_prepare_audio, media_give, peer_end, .is_ordinary = true},
    {"rtp-source", "a packet of a new source each time", peer_begin, media_prepare_source,
     media_give, peer_end},
    {"rtp-forged", "a packet with a bad tag", peer_begin, media_prepare_forged, media_give,
     peer_end},
    {"rtcp-nacks", "75 NACKs that ask for 60 packets", peer_begin, media_prepare_nacks,
     media_give_report, peer_end},
    {"rtcp-empties", "150 reports without blocks", peer_begin, media_prepare_empties,
     media_give_report, peer_end},
};
const size_t abuse_kind_count = ARRAY_LEN(abuse_kinds);
