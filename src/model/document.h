/* The knowledge document, its cards, and hits of a search. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/field.h"

enum document_kind {
    DOCUMENT_TEXT,
    DOCUMENT_TXT,
    DOCUMENT_PDF,
    DOCUMENT_DOCX,
    DOCUMENT_KIND_COUNT
};
extern const char *const document_kind_names[DOCUMENT_KIND_COUNT];
enum document_status {
    DOCUMENT_PROCESSING,
    DOCUMENT_READY,
    DOCUMENT_FAILED,
    DOCUMENT_STATUS_COUNT
};

/* How far reading is. */
struct document_progress {
    int64_t pages_done, pages;       /* pages 0: not known */
    int64_t sections_done, sections; /* for which a model has written cards; 0: none writes */
};

struct document {
    const char *id, *user_id, *name;
    enum document_kind kind;
    int64_t bytes;
    enum document_status status;
    const char *error; /* "" unless failed */
    struct text_list topics;
    int64_t chars, card_count, section_count;
    bool is_stored; /* the uploaded file is kept */
    int64_t created_wall_ms, updated_wall_ms;
    const struct document_progress *progress; /* NULL: not being read */
};
struct document_list LIST_OF(struct document);
extern const struct field_table document_table, document_progress_table;

struct card {
    const char *question, *answer;
};
struct card_list LIST_OF(struct card);
extern const struct field_table card_table;

/* A passage of a document that is no card. */
struct section {
    int64_t position;
    const char *text;
};
struct section_list LIST_OF(struct section);
extern const struct field_table section_table;

enum hit_kind { HIT_CARD, HIT_SECTION, HIT_KIND_COUNT };

struct hit {
    enum hit_kind kind;
    const char *text, *document_id, *document;
    double similarity;    /* 0-1 */
    const char *question; /* of a card, else "" */
};
struct hit_list LIST_OF(struct hit);
extern const struct field_table hit_table;

enum {
    DOCUMENT_TEXT_MIN = 20,
    DOCUMENT_TEXT_MAX = 200000,
    DOCUMENTS_MAX = 500,              /* a workspace */
    DOCUMENT_FILE_BYTES = 26214400,   /* 25 MB */
    DOCUMENT_EXTRACTED_MAX = 2000000, /* characters */
};
