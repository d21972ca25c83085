/* How a word sounds, written in plain Latin letters whatever its script: so that "parking" finds
 * पार्किंग, "jaanch" finds जाँच, and a recogniser's or a typist's spelling finds the word that was
 * meant. Latin and the scripts of India, whose blocks of Unicode all have the same layout.
 *
 *   दुकान, dukaan -> "dukan"     sounds are compared by a weighted edit distance
 *                 -> "TKN"       keys under which words that sound alike are found
 *
 * Thread: any. */
#pragma once

#include <stddef.h>

enum { SOUND_BYTES = 64, SOUND_KEY_BYTES = 16, SOUND_KEYS_MAX = 14 };

/* Of a folded word (text/words.h), at most SOUND_BYTES - 1 letters; "" when it is in another script
 * or has no letters. Capital A is a vowel that the script leaves unwritten. */
void sound_of(const char *folded, char out[SOUND_BYTES]);
/* 1: the same; 0: nothing alike. Vowels, voice and breath weigh less than other consonants. */
double sound_likeness(const char *a, const char *b);
/* The same for two words as they are written: letters left out, put in, exchanged, or two that
 * changed places. 0 for words of more than 31 bytes. */
double letters_likeness(const char *a, const char *b);
/* Two words whose sounds are alike, or of which one continues the other, share a key. Returns how
 * many; 0 for a sound of less than two consonants. */
size_t sound_keys(const char *sound, char out[SOUND_KEYS_MAX][SOUND_KEY_BYTES]);
