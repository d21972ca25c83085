/* Counts of words in threes, and the trigram that follows from them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct ngram;

enum { NGRAM_BEGIN = 0, NGRAM_END = 1 }; /* word numbers of <s> and </s> */

struct ngram *ngram_new(void);
void ngram_free(struct ngram *ngram);
/* The number of a word, made when it is new. */
uint32_t ngram_word(struct ngram *ngram, const char *word);
uint32_t ngram_word_count(const struct ngram *ngram);
const char *ngram_word_text(const struct ngram *ngram, uint32_t word);
/* A sentence without its marks, `weight` times. */
void ngram_add(struct ngram *ngram, const uint32_t *words, size_t count, uint32_t weight);
/* ARPA text; once, after all was added. ERR_LIMIT: the buffer is full. */
enum err ngram_write(struct ngram *ngram, struct buf *out) MUST_USE;
