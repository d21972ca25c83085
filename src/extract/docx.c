/* Word documents: ECMA-376 part 1 (WordprocessingML), read from top to bottom. An element is a row
 * of a table; what it means depends on the paragraph, row or run that stands open.
 *
 *   body: p, tbl > tr > tc > p, sdt > sdtContent > p ...   text boxes: p within a run of a p
 *
 * Tracked changes are read as accepted: what was inserted is text, what was deleted or moved away
 * is passed over, a paragraph whose end was deleted goes on in the next one. Comments, headers,
 * footers, hidden text and tables of contents are left out; notes follow the paragraph that refers
 * to them. Thread: the main thread of the extractor. */
#include <string.h>

#include "base/mem.h"
#include "extract/docx.h"
#include "extract/docx_styles.h"
#include "extract/package.h"
#include "extract/reader.h"
#include "extract/xml.h"

enum { PAGES_MAX = 20000 }; /* no more are told */

/* What elements do. */

typedef void element_fn(struct docx *docx);

static void open_paragraph(struct docx *docx)
{
    docx_begin_paragraph(docx);
}

static void close_paragraph(struct docx *docx)
{
    docx_end_paragraph(docx);
}

static void open_properties(struct docx *docx)
{
    docx->properties++;
}

static void close_properties(struct docx *docx)
{
    docx->properties -= docx->properties > 0;
}

static const char *value(struct docx *docx)
{
    const char *text = xml_attribute(docx->xml, "val");
    return text ? text : "";
}

/* <w:b/> and <w:b w:val="true"/>, but not <w:b w:val="0"/>. */
static bool is_on(struct docx *docx)
{
    const char *text = value(docx);
    return strcmp(text, "0") != 0 && strcmp(text, "false") != 0 && strcmp(text, "off") != 0;
}

static void open_style(struct docx *docx)
{
    struct docx_paragraph *paragraph = docx_paragraph(docx);
    if (!paragraph)
        return;
    struct docx_style style = docx_style_of(docx->styles, value(docx));
    paragraph->heading = paragraph->heading ? paragraph->heading : style.heading;
    paragraph->is_item |= style.is_list;
    paragraph->is_left_out |= style.is_contents;
}

static void open_outline(struct docx *docx)
{
    struct docx_paragraph *paragraph = docx_paragraph(docx);
    const char *level = value(docx);
    if (paragraph && *level >= '0' && *level <= '8' && !level[1])
        paragraph->heading = (unsigned)(*level - '0') + 1;
}

static void open_number(struct docx *docx)
{
    struct docx_paragraph *paragraph = docx_paragraph(docx);
    if (paragraph)
        paragraph->is_item = strcmp(value(docx), "0") != 0;
}

static void open_number_level(struct docx *docx)
{
    struct docx_paragraph *paragraph = docx_paragraph(docx);
    const char *level = value(docx);
    if (paragraph && *level >= '0' && *level <= '8' && !level[1])
        paragraph->depth = (unsigned)(*level - '0') + 1;
}

/* In properties it is a mark on a row or a paragraph's end, else it holds what was deleted. */
static void open_deleted(struct docx *docx)
{
    if (!docx->properties) {
        xml_skip(docx->xml);
        return;
    }
    if (docx->in_row_properties)
        docx_row_is_deleted(docx);
    else if (docx_paragraph(docx))
        docx_paragraph(docx)->goes_on = true;
}

static void open_skipped(struct docx *docx)
{
    xml_skip(docx->xml);
}

static void open_run(struct docx *docx)
{
    docx->is_hidden = docx->is_bold = false;
}

static void open_bold(struct docx *docx)
{
    docx->is_bold = is_on(docx);
}

static void open_hidden(struct docx *docx)
{
    docx->is_hidden = is_on(docx);
}

static void open_text(struct docx *docx)
{
    docx->in_text++;
}

static void close_text(struct docx *docx)
{
    docx->in_text -= docx->in_text > 0;
}

static void open_tab(struct docx *docx)
{
    if (!docx->properties) /* there it is a tab stop */
        docx_add_text(docx, " ");
}

static void open_break(struct docx *docx)
{
    docx_add_text(docx, "\n");
}

static void open_hyphen(struct docx *docx)
{
    docx_add_text(docx, "-");
}

static void open_note_reference(struct docx *docx)
{
    const char *id = xml_attribute(docx->xml, "id");
    docx_refer(docx, xml_name(docx->xml)[0] == 'e', id ? id : "");
}

static void open_table(struct docx *docx)
{
    docx_begin_table(docx);
}

static void close_table(struct docx *docx)
{
    docx_end_table(docx);
}

static void open_row(struct docx *docx)
{
    docx_begin_row(docx);
}

static void close_row(struct docx *docx)
{
    docx_end_row(docx);
}

static void open_row_properties(struct docx *docx)
{
    docx->properties++;
    docx->in_row_properties = true;
}

static void close_row_properties(struct docx *docx)
{
    close_properties(docx);
    docx->in_row_properties = false;
}

static void open_header_row(struct docx *docx)
{
    if (is_on(docx))
        docx_row_is_header(docx);
}

static void open_cell(struct docx *docx)
{
    docx_begin_cell(docx);
}

static void close_cell(struct docx *docx)
{
    docx_end_cell(docx);
}

static void open_span(struct docx *docx)
{
    const char *text = value(docx);
    docx_cell_spans(docx, (unsigned)MIN(strtoul(text, NULL, 10), 64UL));
}

static void open_merge(struct docx *docx)
{
    if (strcmp(value(docx), "restart") != 0)
        docx_cell_goes_on(docx);
}

static const struct {
    const char *name;
    element_fn *open, *close;
} elements[] = {
    {"p", open_paragraph, close_paragraph},
    {"pPr", open_properties, close_properties},
    {"pStyle", open_style, NULL},
    {"outlineLvl", open_outline, NULL},
    {"numId", open_number, NULL},
    {"ilvl", open_number_level, NULL},
    {"r", open_run, NULL},
    {"rPr", open_properties, close_properties},
    {"b", open_bold, NULL},
    {"vanish", open_hidden, NULL},
    {"t", open_text, close_text},
    {"tab", open_tab, NULL},
    {"br", open_break, NULL},
    {"cr", open_break, NULL},
    {"noBreakHyphen", open_hyphen, NULL},
    {"footnoteReference", open_note_reference, NULL},
    {"endnoteReference", open_note_reference, NULL},
    {"tbl", open_table, close_table},
    {"tr", open_row, close_row},
    {"trPr", open_row_properties, close_row_properties},
    {"tblHeader", open_header_row, NULL},
    {"tc", open_cell, close_cell},
    {"tcPr", open_properties, close_properties},
    {"tblPr", open_properties, close_properties},
    {"sectPr", open_properties, close_properties},
    {"gridSpan", open_span, NULL},
    {"vMerge", open_merge, NULL},
    {"del", open_deleted, NULL},
    {"moveFrom", open_skipped, NULL},
    {"delText", open_skipped, NULL},
    {"instrText", open_skipped, NULL},
    {"Fallback", open_skipped, NULL}, /* the same once more, for old programs */
    {"pPrChange", open_skipped, NULL},
    {"rPrChange", open_skipped, NULL},
    {"tblPrChange", open_skipped, NULL},
    {"trPrChange", open_skipped, NULL},
    {"tcPrChange", open_skipped, NULL},
    {"sectPrChange", open_skipped, NULL},
    {"rt", open_skipped, NULL}, /* how it is pronounced */
    {"sdtPr", open_skipped, NULL},
    {"docPartObj", open_skipped, NULL},
};

static void dispatch(struct docx *docx, bool opens)
{
    const char *name = xml_name(docx->xml);
    for (size_t i = 0; i < ARRAY_LEN(elements); i++)
        if (strcmp(elements[i].name, name) == 0) {
            element_fn *fn = opens ? elements[i].open : elements[i].close;
            if (fn)
                fn(docx);
            return;
        }
}

/* Parts. */

static int part_bytes(void *arg, char *out, int len)
{
    return part_read(arg, out, len);
}

static bool is_note(const char *name)
{
    return strcmp(name, "footnote") == 0 || strcmp(name, "endnote") == 0;
}

/* Whose blocks go where docx says. */
static enum extract_outcome read_xml(struct docx *docx, xml_read_fn *fn, void *arg)
{
    docx->xml = xml_open(fn, arg);
    enum extract_outcome outcome = EXTRACT_DONE;
    enum xml_event event = XML_TEXT;
    while (!docx->err && (event = xml_next(docx->xml)) < XML_END) {
        if (event == XML_TEXT && docx->in_text && !docx->is_hidden)
            docx_add_text(docx, xml_text(docx->xml));
        else if (event == XML_OPEN && docx->notes_of && is_note(xml_name(docx->xml)))
            docx_begin_note(docx, xml_attribute(docx->xml, "id"));
        else if (event != XML_TEXT)
            dispatch(docx, event == XML_OPEN);
    }
    if (docx->err)
        outcome = extract_outcome_of(docx->err);
    else if (event == XML_BROKEN)
        outcome = xml_outcome(docx->xml);
    xml_close(docx->xml);
    return outcome;
}

/* How far the text is read, told in pages: as many as the program that wrote it counted. */
struct progress {
    struct block_writer *out;
    struct part *part;
    unsigned pages, done;
    uint64_t bytes;
};

static int progress_bytes(void *arg, char *out, int len)
{
    struct progress *progress = arg;
    int n = part_read(progress->part, out, len);
    uint64_t size = MAX(part_size(progress->part), (uint64_t)1);
    progress->bytes += n > 0 ? (uint64_t)n : 0;
    unsigned done = (unsigned)(progress->pages * MIN(progress->bytes, size) / size);
    if (done != progress->done)
        block_progress(progress->out, progress->done = done, progress->pages);
    return n;
}

/* 0: it does not say. */
static unsigned count_pages(struct package *package)
{
    struct part *part = NULL;
    unsigned pages = 0;
    bool is_count = false;
    if (part_open(package, "docProps/app.xml", &part) != EXTRACT_DONE)
        return 0;
    struct xml *xml = xml_open(part_bytes, part);
    for (enum xml_event event; (event = xml_next(xml)) < XML_END;) {
        if (event == XML_TEXT && is_count)
            pages = (unsigned)MIN(strtoul(xml_text(xml), NULL, 10), (unsigned long)PAGES_MAX);
        is_count = event == XML_OPEN && strcmp(xml_name(xml), "Pages") == 0;
    }
    xml_close(xml);
    part_close(part);
    return pages;
}

/* pages: of which progress is told; 0: none. */
static enum extract_outcome read_part(struct docx *docx, struct package *package, const char *name,
                                      unsigned pages)
{
    struct part *part = NULL;
    enum extract_outcome outcome = part_open(package, name, &part);
    if (outcome)
        return outcome;
    struct progress progress = {.out = docx->out, .part = part, .pages = pages};
    outcome = read_xml(docx, progress_bytes, &progress);
    if (part_outcome(part)) /* why the XML broke off */
        outcome = part_outcome(part);
    part_close(part);
    return outcome;
}

/* A part that may be missing. */
static enum extract_outcome read_notes(struct docx *docx, struct package *package, char kind,
                                       const char *name)
{
    docx->notes_of = kind;
    enum extract_outcome outcome = read_part(docx, package, name, 0);
    docx_end_notes(docx);
    docx->notes_of = 0;
    return outcome == EXTRACT_EMPTY ? EXTRACT_DONE : outcome;
}

/* "word/document.xml", or what the package says that it is called. */
static enum extract_outcome find_main(struct package *package, char out[static DOCX_NAME_BYTES])
{
    struct part *part = NULL;
    snprintf(out, DOCX_NAME_BYTES, "word/document.xml");
    enum extract_outcome outcome = part_open(package, "_rels/.rels", &part);
    if (outcome)
        return outcome == EXTRACT_EMPTY ? EXTRACT_DONE : outcome;
    struct xml *xml = xml_open(part_bytes, part);
    for (enum xml_event event; (event = xml_next(xml)) < XML_END;) {
        const char *type = event == XML_OPEN ? xml_attribute(xml, "Type") : NULL;
        size_t len = type ? strlen(type) : 0;
        if (len < 15 || strcmp(type + len - 15, "/officeDocument") != 0)
            continue;
        const char *target = xml_attribute(xml, "Target");
        if (target)
            snprintf(out, DOCX_NAME_BYTES, "%s", target + (*target == '/'));
    }
    xml_close(xml);
    part_close(part);
    return EXTRACT_DONE;
}

static enum extract_outcome read_package(struct docx *docx, struct package *package)
{
    char main_name[DOCX_NAME_BYTES], name[DOCX_NAME_BYTES + 16];
    enum extract_outcome outcome = find_main(package, main_name);
    const char *slash = strrchr(main_name, '/');
    int folder = slash ? (int)(slash - main_name + 1) : 0;
    snprintf(name, sizeof(name), "%.*sstyles.xml", folder, main_name);
    if (!outcome)
        outcome = docx_styles_read(package, name, &docx->styles);
    snprintf(name, sizeof(name), "%.*sfootnotes.xml", folder, main_name);
    if (!outcome)
        outcome = read_notes(docx, package, 'f', name);
    snprintf(name, sizeof(name), "%.*sendnotes.xml", folder, main_name);
    if (!outcome)
        outcome = read_notes(docx, package, 'e', name);
    if (!outcome)
        outcome = read_part(docx, package, main_name, count_pages(package));
    return outcome == EXTRACT_EMPTY ? EXTRACT_DAMAGED : outcome; /* no main part */
}

enum extract_outcome docx_file_read(const struct extract_file *file, struct block_writer *out)
{
    struct package *package = NULL;
    enum extract_outcome outcome = package_open(file->data, file->len, &package);
    if (outcome)
        return outcome;
    struct docx *docx = docx_new(out);
    outcome = read_package(docx, package);
    docx_free(docx);
    package_close(package);
    return outcome;
}

static int memory_bytes(void *arg, char *out, int len)
{
    struct extract_file *rest = arg;
    size_t n = MIN((size_t)len, rest->len);
    memcpy(out, rest->data, n);
    rest->data += n;
    rest->len -= n;
    return (int)n;
}

enum extract_outcome docx_xml_read(const struct extract_file *file, struct block_writer *out)
{
    struct package *none = NULL;
    struct extract_file rest = *file;
    struct docx *docx = docx_new(out);
    enum extract_outcome outcome = docx_styles_read(none, "", &docx->styles);
    if (!outcome)
        outcome = read_xml(docx, memory_bytes, &rest);
    docx_free(docx);
    return outcome;
}
