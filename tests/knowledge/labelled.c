/* See labelled.h. */
#include "labelled.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "test.h"

static char *read_whole(struct arena *arena, const char *path)
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    char piece[4096];
    for (size_t n; file && (n = fread(piece, 1, sizeof(piece), file)) > 0;)
        CHECK_INT(buf_append(&text, piece, n), OK);
    if (file)
        fclose(file);
    return arena_strndup(arena, text.data ? text.data : "", text.len);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_text(const struct dirent *entry)
{
    return strstr(entry->d_name, ".txt") != NULL;
}

static void read_documents(struct labelled *set, const char *folder, struct arena *arena)
{
    const char *path = arena_printf(arena, "%s/documents", folder);
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_text, by_name);
    CHECK(n > 0 && n <= LABELLED_DOCUMENTS_MAX);
    for (int i = 0; i < n; i++) {
        struct labelled_document *document = &set->documents[set->document_count++];
        size_t len = strlen(entries[i]->d_name) - strlen(".txt");
        document->name = arena_strndup(arena, entries[i]->d_name, len);
        document->text = read_whole(arena, arena_printf(arena, "%s/%s", path, entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
}

static void read_questions(struct labelled *set, const char *folder, struct arena *arena)
{
    char *rest = read_whole(arena, arena_printf(arena, "%s/questions.txt", folder));
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        struct labelled_question *question = &set->questions[set->question_count++];
        question->language = strsep(&line, "|");
        question->form = strsep(&line, "|");
        question->document = strsep(&line, "|");
        question->answer = strsep(&line, "|");
        question->question = line ? line : "";
        question->is_held_out = set->question_count % 2 == 0;
        CHECK(*question->question && set->question_count < LABELLED_QUESTIONS_MAX);
    }
}

struct labelled *labelled_read(const char *folder, struct arena *arena)
{
    struct labelled *set = arena_new_of(arena, struct labelled);
    read_documents(set, folder, arena);
    read_questions(set, folder, arena);
    return set;
}
