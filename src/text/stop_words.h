/* Words that say nothing about what is asked, folded as words.c folds, sorted bytewise. Only
 * words.c includes this. */
#pragma once

#include <stddef.h>

#include "base/attr.h"

static const char *const stop_words_en[] = {
    "a",       "about", "am",     "an",   "and",    "any",   "are",   "as",    "at",     "be",
    "been",    "but",   "by",     "can",  "can't",  "could", "did",   "do",    "does",   "don't",
    "for",     "from",  "had",    "has",  "have",   "he",    "hello", "her",   "hers",   "hey",
    "hi",      "him",   "his",    "hmm",  "how",    "i",     "i'd",   "i'll",  "i'm",    "if",
    "in",      "is",    "it",     "it's", "its",    "just",  "know",  "let",   "like",   "me",
    "my",      "no",    "not",    "of",   "oh",     "ok",    "okay",  "on",    "or",     "our",
    "ours",    "out",   "please", "she",  "should", "so",    "some",  "sorry", "stop",   "tell",
    "than",    "thank", "thanks", "that", "that's", "the",   "their", "them",  "then",   "there",
    "there's", "these", "they",   "this", "those",  "to",    "too",   "uh",    "um",     "up",
    "us",      "wait",  "want",   "was",  "we",     "well",  "were",  "what",  "what's", "when",
    "where",   "which", "while",  "who",  "whom",   "whose", "why",   "will",  "with",   "would",
    "yeah",    "yes",   "you",    "your", "yours"};

static const char *const stop_words_hi[] = {
    "hai",   "hain", "ka",   "kab", "kahan", "kaise", "kaun", "ke",    "ki",    "ko",    "kya",
    "kyun",  "me",   "mein", "par", "se",    "अपना",  "अपनी", "अपने",   "आप",    "आपका",  "आपकी",
    "आपके",   "इन",   "इस",   "उन",  "उस",    "एक",    "और",   "कब",    "कर",    "करता",  "करती",
    "करते",   "करना", "करने",  "कहाँ", "कहां",   "का",    "कि",   "कितना", "कितनी", "कितने",  "किया",
    "की",    "कुछ",   "कृपया", "के",   "कैसे",    "को",    "कौन",  "क्या",   "क्यों",   "चाहिए", "जा",
    "जाता",  "जो",   "तक",   "तुम",  "तो",    "था",    "थी",   "थे",     "नहीं",   "ने",     "पर",
    "बताइए", "बताएं", "बताओ", "भी",  "मुझको",  "मुझे",    "में",    "मेरा",   "मेरी",   "मेरे",    "मैं",
    "यह",    "या",   "ये",    "रहा", "रही",   "रहे",    "लिए",  "वह",    "वे",     "साथ",   "से",
    "हम",    "हमें",   "ही",   "है",   "हैं",     "हो",    "होता", "होती",  "होते"};

static const char *const stop_words_es[] = {
    "a",   "al",  "como", "con",  "cual",  "cuando", "de",   "del", "donde", "el", "ella", "en",
    "es",  "eso", "esta", "este", "esto",  "hay",    "la",   "las", "le",    "lo", "los",  "mas",
    "me",  "mi",  "muy",  "no",   "o",     "para",   "pero", "por", "que",   "se", "si",   "sin",
    "son", "su",  "sus",  "te",   "tiene", "tu",     "un",   "una", "y",     "ya", "yo"};

static const char *const stop_words_fr[] = {
    "a",      "au",   "aux", "avec", "ce",    "ces",  "cette", "comment", "dans",  "de",  "des",
    "du",     "elle", "en",  "est",  "et",    "eux",  "il",    "ils",     "je",    "la",  "le",
    "les",    "leur", "lui", "ma",   "mais",  "me",   "mes",   "moi",     "mon",   "ne",  "nos",
    "notre",  "nous", "on",  "ou",   "par",   "pas",  "pour",  "qu",      "quand", "que", "quel",
    "quelle", "qui",  "sa",  "se",   "ses",   "son",  "sont",  "sur",     "ta",    "te",  "tes",
    "tu",     "un",   "une", "vos",  "votre", "vous", "y"};

static const char *const stop_words_de[] = {
    "aber",  "als",    "am",   "an",  "auch",  "auf",   "aus",  "bei",   "bin",  "bis",   "das",
    "dass",  "dem",    "den",  "der", "des",   "die",   "du",   "ein",   "eine", "einem", "einen",
    "einer", "er",     "es",   "fur", "haben", "hat",   "ich",  "ihr",   "im",   "in",    "ist",
    "kann",  "konnen", "mein", "mit", "nach",  "nicht", "noch", "oder",  "sein", "sie",   "sind",
    "so",    "uber",   "und",  "uns", "vom",   "von",   "wann", "warum", "was",  "wenn",  "wer",
    "wie",   "wir",    "wird", "wo",  "zu",    "zum",   "zur"};

#define STOP_WORDS(iso_)                                                                           \
    {                                                                                              \
#iso_, stop_words_##iso_, ARRAY_LEN(stop_words_##iso_)                                     \
    }
static const struct {
    const char *iso;
    const char *const *words;
    size_t count;
} stop_words[] = {STOP_WORDS(en), STOP_WORDS(hi), STOP_WORDS(es), STOP_WORDS(fr), STOP_WORDS(de)};
