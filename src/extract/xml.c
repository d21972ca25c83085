/* See xml.h. Thread: the main thread of the extractor. */
#include "extract/xml.h"

#include <string.h>

#include <libxml/xmlreader.h>

#include "base/mem.h"

enum { DEPTH_MAX = 200 };

struct xml {
    xmlTextReaderPtr reader;
    xml_read_fn *fn;
    void *arg;
    xmlChar *attribute;
    bool is_empty; /* the element that has just opened has no content: its close is next */
    bool is_too_deep;
};

static int read_bytes(void *arg, char *out, int len)
{
    struct xml *xml = arg;
    return xml->fn(xml->arg, out, len);
}

static int close_nothing(void *arg)
{
    (void)arg;
    return 0;
}

struct xml *xml_open(xml_read_fn *fn, void *arg)
{
    struct xml *xml = mem_new(struct xml);
    xmlResetLastError();
    xml->fn = fn;
    xml->arg = arg;
    xml->reader = xmlReaderForIO(read_bytes, close_nothing, xml, NULL, NULL,
                                 XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                     XML_PARSE_NOCDATA);
    return xml;
}

void xml_close(struct xml *xml)
{
    if (!xml)
        return;
    xmlFree(xml->attribute);
    xmlFreeTextReader(xml->reader);
    mem_free(xml);
}

/* What the reader stands on. XML_END here: of no interest, go on. */
static enum xml_event classify(struct xml *xml)
{
    switch (xmlTextReaderNodeType(xml->reader)) {
    case XML_READER_TYPE_ELEMENT:
        xml->is_empty = xmlTextReaderIsEmptyElement(xml->reader) == 1;
        xml->is_too_deep = xmlTextReaderDepth(xml->reader) > DEPTH_MAX;
        return xml->is_too_deep ? XML_BROKEN : XML_OPEN;
    case XML_READER_TYPE_END_ELEMENT:
        return XML_CLOSE;
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
    case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
    case XML_READER_TYPE_WHITESPACE:
        return XML_TEXT;
    case XML_READER_TYPE_DOCUMENT_TYPE: /* entities: no office program writes them */
    case XML_READER_TYPE_ENTITY_REFERENCE:
        return XML_BROKEN;
    default:
        return XML_END;
    }
}

enum xml_event xml_next(struct xml *xml)
{
    if (!xml->reader || xml->is_too_deep)
        return XML_BROKEN;
    if (xml->is_empty) {
        xml->is_empty = false;
        return XML_CLOSE;
    }
    for (;;) {
        int n = xmlTextReaderRead(xml->reader);
        if (n != 1)
            return n == 0 ? XML_END : XML_BROKEN;
        enum xml_event event = classify(xml);
        if (event != XML_END)
            return event;
    }
}

const char *xml_name(const struct xml *xml)
{
    const xmlChar *name = xmlTextReaderConstLocalName(xml->reader);
    return name ? (const char *)name : "";
}

const char *xml_text(const struct xml *xml)
{
    const xmlChar *text = xmlTextReaderConstValue(xml->reader);
    return text ? (const char *)text : "";
}

const char *xml_attribute(struct xml *xml, const char *name)
{
    xmlFree(xml->attribute);
    xml->attribute = NULL;
    for (int n = xmlTextReaderMoveToFirstAttribute(xml->reader); n == 1;
         n = xmlTextReaderMoveToNextAttribute(xml->reader))
        if (strcmp(xml_name(xml), name) == 0) {
            xml->attribute = xmlTextReaderValue(xml->reader);
            break;
        }
    xmlTextReaderMoveToElement(xml->reader);
    return (const char *)xml->attribute;
}

void xml_skip(struct xml *xml)
{
    int depth = xmlTextReaderDepth(xml->reader);
    if (xml->is_empty) {
        xml->is_empty = false;
        return;
    }
    while (xmlTextReaderRead(xml->reader) == 1) {
        if (xmlTextReaderNodeType(xml->reader) == XML_READER_TYPE_END_ELEMENT &&
            xmlTextReaderDepth(xml->reader) <= depth)
            return;
        if (xmlTextReaderDepth(xml->reader) > DEPTH_MAX) {
            xml->is_too_deep = true;
            return;
        }
    }
}

enum extract_outcome xml_outcome(const struct xml *xml)
{
    /* The library reads ahead of us, and has a ceiling of its own, which has no code. */
    const xmlError *fault = xmlGetLastError();
    bool is_depth = fault && fault->message && strstr(fault->message, "Excessive depth");
    return xml->is_too_deep || is_depth ? EXTRACT_TOO_DEEP : EXTRACT_DAMAGED;
}
