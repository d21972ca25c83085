/* See docx_styles.h. Source: ECMA-376 part 1, 17.7. Thread: the main thread of the extractor. */
#include "extract/docx_styles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "base/mem.h"
#include "extract/xml.h"

enum {
    STYLES_MAX = 5000,
    ID_BYTES = 128,
    INHERITED_MAX = 20, /* a chain longer than this is a ring */
};

struct entry {
    char id[ID_BYTES], based_on[ID_BYTES], name[ID_BYTES];
    int outline; /* 0 to 8; -1: not said */
    bool has_list;
};

struct docx_styles {
    struct map *by_id;
    size_t count;
};

static void copy(char out[ID_BYTES], const char *text)
{
    snprintf(out, ID_BYTES, "%s", text ? text : "");
}

static int part_bytes(void *arg, char *out, int len)
{
    return part_read(arg, out, len);
}

static void read_property(struct xml *xml, struct entry *entry)
{
    const char *name = xml_name(xml);
    if (strcmp(name, "name") == 0)
        copy(entry->name, xml_attribute(xml, "val"));
    else if (strcmp(name, "basedOn") == 0)
        copy(entry->based_on, xml_attribute(xml, "val"));
    else if (strcmp(name, "numPr") == 0)
        entry->has_list = true;
    else if (strcmp(name, "outlineLvl") == 0) {
        const char *level = xml_attribute(xml, "val");
        entry->outline = level && *level >= '0' && *level <= '8' && !level[1] ? *level - '0' : -1;
    }
}

/* The element <style> has opened. */
static enum xml_event read_style(struct xml *xml, struct docx_styles *styles)
{
    struct entry *entry = mem_new(struct entry);
    unsigned depth = 1;
    enum xml_event event = XML_CLOSE;
    entry->outline = -1;
    copy(entry->id, xml_attribute(xml, "styleId"));
    while (depth && (event = xml_next(xml)) < XML_END) {
        if (event == XML_OPEN)
            read_property(xml, entry);
        depth += event == XML_OPEN;
        depth -= event == XML_CLOSE;
    }
    bool is_kept = *entry->id && styles->count < STYLES_MAX;
    styles->count += is_kept;
    mem_free(is_kept ? map_set_str(styles->by_id, entry->id, entry) : entry);
    return event;
}

enum extract_outcome docx_styles_read(struct package *package, const char *name,
                                      struct docx_styles **out)
{
    struct part *part = NULL;
    struct docx_styles *styles = mem_new(struct docx_styles);
    styles->by_id = map_new();
    *out = styles;
    enum extract_outcome outcome = part_open(package, name, &part);
    if (outcome)
        return outcome == EXTRACT_EMPTY ? EXTRACT_DONE : outcome;
    struct xml *xml = xml_open(part_bytes, part);
    enum xml_event event = XML_TEXT;
    while (event < XML_END && (event = xml_next(xml)) < XML_END)
        if (event == XML_OPEN && strcmp(xml_name(xml), "style") == 0)
            event = read_style(xml, styles);
    if (event == XML_BROKEN)
        outcome = part_outcome(part) ? part_outcome(part) : xml_outcome(xml);
    else
        outcome = EXTRACT_DONE;
    xml_close(xml);
    part_close(part);
    return outcome;
}

static int free_entry(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    mem_free(value);
    return 0;
}

void docx_styles_free(struct docx_styles *styles)
{
    if (!styles)
        return;
    map_each(styles->by_id, free_entry, NULL);
    map_free(styles->by_id);
    mem_free(styles);
}

static bool begins(const char *name, const char *with)
{
    return strncasecmp(name, with, strlen(with)) == 0;
}

/* By its name, which Word keeps in English whatever the language of the program. */
static void apply_name(const char *name, struct docx_style *style)
{
    if (begins(name, "heading ") && name[8] >= '1' && name[8] <= '9')
        style->heading = style->heading ? style->heading : (unsigned)(name[8] - '0');
    else if (strcasecmp(name, "title") == 0)
        style->heading = style->heading ? style->heading : 1;
    style->is_list |= begins(name, "list");
    style->is_contents |= begins(name, "toc ") || begins(name, "contents ");
}

struct docx_style docx_style_of(const struct docx_styles *styles, const char *id)
{
    struct docx_style style = {0};
    for (unsigned i = 0; i < INHERITED_MAX && *id; i++) {
        const struct entry *entry = map_get_str(styles->by_id, id);
        if (!entry) {
            apply_name(id, &style); /* some programs name without defining */
            break;
        }
        if (!style.heading && entry->outline >= 0)
            style.heading = (unsigned)entry->outline + 1;
        style.is_list |= entry->has_list;
        apply_name(entry->name, &style);
        id = entry->based_on;
    }
    return style;
}
