/* The last step before a voice: what it would stumble over is written as people say it. E-mail
 * addresses and links by their signs ("asha at shop dot test"), telephone numbers and codes digit
 * by digit; dates, times of day, money, shares, units, spans and numbers in words, as far as they
 * can be read in one way only. What could be two things (a year or a room, 3/4/2026 in English),
 * and numbers whose form goes with a word beside them, are left to the voice, which sees the
 * sentence. What is shown and kept stays as it was written. Languages without a row of aloud.def
 * are copied; Hindi in Latin letters is said with English words. text: a whole sentence, not a part
 * of one that grows (text/sentence.h). Thread: any. */
#pragma once

#include "base/buf.h"

void aloud_write(const char *text, const char *iso, struct buf *out);
