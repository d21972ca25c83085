/* English texts with their numbers in words without hyphens, for the language models of embedded
 * recognition, whose words are those that are heard. What is spoken is text/aloud.h. Thread: any.
 */
#pragma once

#include "base/buf.h"

/* Replaces what stands in digits: whole numbers, decimals, ordinals, clock times, years, money ($
 * and rupees), percent, and long digit strings (telephone numbers) digit by digit. Other text is
 * kept. */
void number_expand(const char *text, struct buf *out);
