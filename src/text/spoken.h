/* Numbers that were spoken, read back: "two fifty", "ढाई सौ", "dedh sau", "எட்டாயிரத்து ஐந்நூறு" and
 * "তিনশো নিরানব্বই" are 250, 250, 150, 8500 and 399. English, Hindi (also in Latin letters), Tamil
 * and Bengali. The other direction is text/numeral.h. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A number as it grows word by word. Zeroed: none yet. In hundredths, because of "ढाई" (2.5). */
struct spoken {
    int64_t total, current, added; /* added: by "साढ़े", before its number has come */
    int64_t last;                  /* the number word that came last, in hundredths; 0: none */
    unsigned words;
    bool is_open;
};

/* Does this folded word go on with the number, or begin one? False leaves it as it is. is_hindi:
 * the text is Hindi in Latin letters ("do" is 2 then, and "das" 10). */
bool spoken_take(struct spoken *spoken, const char *folded, bool is_hindi);
/* Digits, which only a word such as "lakh" continues. */
void spoken_begin(struct spoken *spoken, int64_t value);
int64_t spoken_hundredths(const struct spoken *spoken);
