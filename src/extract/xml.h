/* XML from top to bottom, element by element, of a document that may be hostile: no document type
 * and so no entities, nothing is fetched, depth is bounded. Names are without their prefix.
 * Thread: the main thread of the extractor. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "extract/block.h"

struct xml;

/* Bytes, 0 at the end, -1: broken. */
typedef int xml_read_fn(void *arg, char *out, int len);

enum xml_event { XML_OPEN, XML_CLOSE, XML_TEXT, XML_END, XML_BROKEN };

struct xml *xml_open(xml_read_fn *fn, void *arg);
void xml_close(struct xml *xml);

/* An element without content opens and closes. */
enum xml_event xml_next(struct xml *xml);
const char *xml_name(const struct xml *xml); /* of the element that opens or closes */
const char *xml_text(const struct xml *xml);
/* Of the element that opens; NULL: it has none. Borrowed until the next call of this. */
const char *xml_attribute(struct xml *xml, const char *name);
/* Passes over what is in the element that has just opened; its close does not come. */
void xml_skip(struct xml *xml);
/* After XML_BROKEN. */
enum extract_outcome xml_outcome(const struct xml *xml);
