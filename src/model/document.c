/* Knowledge documents, cards and hits as the API shows them. */
#include "model/document.h"

const char *const document_kind_names[DOCUMENT_KIND_COUNT] = {"text", "txt", "pdf", "docx"};
static const char *const document_status_names[DOCUMENT_STATUS_COUNT] = {"processing", "ready",
                                                                         "failed"};
static const char *const hit_kind_names[HIT_KIND_COUNT] = {"card", "section"};

static const struct field progress_rows[] = {
    ROW_INT(struct document_progress, pages_done, "pagesDone", .column = "pages_done"),
    ROW_INT(struct document_progress, pages, "pages", .column = "pages",
            .about = "0: not known yet."),
    ROW_INT(struct document_progress, sections_done, "sectionsDone", .column = "sections_done",
            .about = "For which a language model has written cards."),
    ROW_INT(struct document_progress, sections, "sections", .column = "sections",
            .about = "0: none writes any."),
};
FIELD_TABLE(document_progress_table, struct document_progress, "DocumentProgress", progress_rows);

static const struct field document_rows[] = {
    ROW_TEXT(struct document, id, "id", .column = "id", .flags = FIELD_READ_ONLY,
             .example = "\"kd_01abcdefghijklmnopqr\""),
    ROW_TEXT(struct document, user_id, "userId", .column = "workspace_id", .about = "Workspace."),
    ROW_TEXT(struct document, name, "name", .column = "name"),
    ROW_ENUM(struct document, kind, "kind", enum document_kind, document_kind_names,
             .column = "kind"),
    ROW_INT(struct document, bytes, "bytes", .column = "bytes"),
    ROW_ENUM(struct document, status, "status", enum document_status, document_status_names,
             .column = "status"),
    ROW_TEXT(struct document, error, "error", .column = "error", .flags = FIELD_NULL_EMPTY,
             .about = "Why it could not be read, when status is failed."),
    ROW_TEXTS(struct document, topics, "topics", .column = "topics",
              .about = "Topics taken from the document."),
    ROW_INT(struct document, chars, "chars", .column = "chars", .about = "0 while processing."),
    ROW_INT(struct document, card_count, "cardCount", .column = "card_count"),
    ROW_INT(struct document, section_count, "sectionCount", .column = "section_count"),
    ROW_OBJECT_PTR(struct document, progress, "progress", const struct document_progress,
                   &document_progress_table, .flags = FIELD_NULL_EMPTY,
                   .about = "How far reading is; null unless it is being read."),
    ROW_BOOL(struct document, is_stored, "stored", .column = "is_stored",
             .about = "Whether the uploaded file is kept and can be downloaded."),
    ROW_TIME(struct document, created_wall_ms, "createdAt", .column = "created_ms"),
    ROW_TIME(struct document, updated_wall_ms, "updatedAt", .column = "updated_ms"),
};
FIELD_TABLE(document_table, struct document, "Document", document_rows,
            .about = "Text, or an uploaded file, that agents answer from.");

static const struct field card_rows[] = {
    ROW_TEXT(struct card, question, "question"),
    ROW_TEXT(struct card, answer, "answer"),
};
FIELD_TABLE(card_table, struct card, "Card", card_rows);

static const struct field section_rows[] = {
    ROW_INT(struct section, position, "position", .column = "position",
            .about = "Its place in the document, from 0; cards have places, too."),
    ROW_TEXT(struct section, text, "text", .column = "text",
             .about = "As it is searched: under a heading, with the heading as its first line."),
};
FIELD_TABLE(section_table, struct section, "Passage", section_rows);

static const struct field hit_rows[] = {
    ROW_ENUM(struct hit, kind, "kind", enum hit_kind, hit_kind_names,
             .about = "card: a question and answer taken from a document; section: a passage."),
    ROW_TEXT(struct hit, text, "text"),
    ROW_TEXT(struct hit, document_id, "documentId"),
    ROW_TEXT(struct hit, document, "document", .about = "Name of the document."),
    ROW_REAL(struct hit, similarity, "similarity", .real_max = 1),
    ROW_TEXT(struct hit, question, "question", .flags = FIELD_OMIT_EMPTY),
};
FIELD_TABLE(hit_table, struct hit, "Hit", hit_rows);
