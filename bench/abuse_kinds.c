#include "abuse_kinds.h"

#include "base/attr.h"

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
};
const size_t abuse_kind_count = ARRAY_LEN(abuse_kinds);
