/* Numbers in words: "two hundred fifty", "दो सौ पचास", "einundzwanzig". English, also with lakh and
 * crore, Hindi and eight large languages of Europe, by the rules of numeral.def. The other
 * direction is text/spoken.h. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Counted alone ("eins", "uno"), or before a thing of that gender ("ein", "una"). Of a neuter
 * thing: as of a masculine one. */
enum numeral_form { NUMERAL_COUNT, NUMERAL_MASCULINE, NUMERAL_FEMININE };

/* iso: also "en-IN", which counts in lakh and crore. value: 0 to 999,999,999,999,999.
 * False: nothing is written, for the language has no row or the value is out of bounds. */
bool numeral_write(int64_t value, const char *iso, enum numeral_form form, struct buf *out);
/* "twenty-second", "vingt-deuxième", "vigésimo segundo"; alone, or before a thing of that gender
 * ("primer", "segunda"). English, French and Dutch;
 * Italian, Spanish and Portuguese to 99. */
bool numeral_write_ordinal(int64_t value, const char *iso, enum numeral_form form, struct buf *out);
/* "nineteen ninety-eight", "neunzehnhundertachtundneunzig"; elsewhere as any number. */
bool numeral_write_year(int64_t value, const char *iso, struct buf *out);
/* The form of a counted thing that goes with the value. forms: "one|few|many", each the last where
 * there is no further: "Euro", "dollar|dollars". is_fraction: 2.5 of it. */
void numeral_write_counted(int64_t value, bool is_fraction, const char *iso, const char *forms,
                           struct buf *out);
