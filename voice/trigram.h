/* Counts of words in threes, and the trigram that follows from them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct trigram;

enum { TRIGRAM_BEGIN = 0, TRIGRAM_END = 1 }; /* word numbers of <s> and </s> */

struct trigram *trigram_new(void);
void trigram_free(struct trigram *trigram);
/* The number of a word, made when it is new. */
uint32_t trigram_word(struct trigram *trigram, const char *word);
uint32_t trigram_word_count(const struct trigram *trigram);
const char *trigram_word_text(const struct trigram *trigram, uint32_t word);
/* A sentence without its marks, `weight` times. */
void trigram_add(struct trigram *trigram, const uint32_t *words, size_t count, uint32_t weight);
/* ARPA text; once, after all was added. ERR_LIMIT: the buffer is full. */
enum err trigram_write(struct trigram *trigram, struct buf *out) MUST_USE;
