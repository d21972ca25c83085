/* The general English trigram that comes with the acoustic model (package pocketsphinx-en-us): read
 * once a process and shared by all its sessions; and its frequent words as lines of a dictionary.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"

struct cmd_ln_s; /* of sphinxbase: cmd_ln_t, logmath_t, ngram_model_t */
struct logmath_s;
struct ngram_model_s;

#define GENERAL_WEIGHT "6.5" /* of words against sounds */

/* What a language model is read with: the weight of words against sounds is put into it then. */
struct cmd_ln_s *general_settings(void);
struct logmath_s *general_logarithms(void);
/* NULL: the package is not there, or there is no memory. Borrowed. */
struct ngram_model_s *general_model(void);
/* Is it among the words that every caller may say? */
bool general_has(const char *word);
/* The lines "word PH ON ES" of all of them; borrowed. */
const struct buf *general_dictionary(void);
