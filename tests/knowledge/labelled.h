/* The labelled set: its documents and questions (README.md). Thread: the test's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum { LABELLED_DOCUMENTS_MAX = 64, LABELLED_QUESTIONS_MAX = 1000 };

struct labelled_document {
    const char *name, *text;
};

struct labelled_question {
    const char *language, *form, *document; /* document "-": of none */
    const char *answer;                     /* a piece of the right passage; "": there is none */
    const char *question;
    bool is_held_out;
};

struct labelled {
    struct labelled_document documents[LABELLED_DOCUMENTS_MAX];
    size_t document_count;
    struct labelled_question questions[LABELLED_QUESTIONS_MAX];
    size_t question_count;
};

/* Read from a folder; texts in the arena. Fails the test when it cannot be read. */
struct labelled *labelled_read(const char *folder, struct arena *arena);
