/* The last step before a voice: what it would stumble over is written as people say it. E-mail
 * addresses and links by their signs ("asha at shop dot test"), telephone numbers digit by digit,
 * dates of the form 2026-03-05 as a day of a month. Other numbers, times and amounts of money are
 * left to the voices, which all read them in their languages. What is shown and kept stays as it
 * was written. Languages without a row of aloud.def are copied. Thread: any. */
#pragma once

#include "base/buf.h"

void aloud_write(const char *text, const char *iso, struct buf *out);
