/* Numbers in words, for voices that read digits badly and for language models of recognition.
 * English and Hindi. Thread: any. */
#pragma once

#include <stdint.h>

#include "base/buf.h"

/* 1250 -> "one thousand two hundred fifty"; Hindi counts in lakh and crore. Up to 15 digits, beyond
 * that digit by digit. */
void number_words(int64_t value, const char *iso, struct buf *out);
/* Replaces what stands in digits: whole numbers, decimals, ordinals (English), clock times, years,
 * money ($ and rupees), percent, and long digit strings (telephone numbers) digit by digit. Other
 * text is kept; languages other than en and hi are copied as they are. */
void number_expand(const char *text, const char *iso, struct buf *out);
