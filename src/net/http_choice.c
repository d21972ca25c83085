#include "net/http_choice.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"

static const char blanks[] = " \t";

/* Accept-Encoding. */

enum { WEIGHT_MAX = 1000, WEIGHT_NONE = -1, WEIGHT_DIGITS = 3 };

/* Weights in thousandths; WEIGHT_NONE: not named. */
struct codings {
    int gzip, identity, others;
};

/* "0", "0.8", "1.000"; WEIGHT_NONE: is none. */
static int read_weight(const char *text, size_t len)
{
    if (len == 0 || (text[0] != '0' && text[0] != '1') || len > WEIGHT_DIGITS + 2 ||
        (len > 1 && text[1] != '.'))
        return WEIGHT_NONE;
    int weight = (text[0] - '0') * WEIGHT_MAX, unit = WEIGHT_MAX / 10;
    for (size_t i = 2; i < len; i++, unit /= 10) {
        if (!isdigit((unsigned char)text[i]))
            return WEIGHT_NONE;
        weight += (text[i] - '0') * unit;
    }
    return weight <= WEIGHT_MAX ? weight : WEIGHT_NONE;
}

static size_t trim(const char **text, size_t len)
{
    size_t before = MIN(strspn(*text, blanks), len);
    *text += before;
    len -= before;
    while (len > 0 && strchr(blanks, (*text)[len - 1]))
        len--;
    return len;
}

/* What follows the coding: nothing, or ";q=" and a weight. */
static int weight_of(const char *parameter, size_t len)
{
    if (len == 0)
        return WEIGHT_MAX;
    parameter++; /* the semicolon */
    len = trim(&parameter, len - 1);
    return len > 2 && strncasecmp(parameter, "q=", 2) == 0 ? read_weight(parameter + 2, len - 2)
                                                           : WEIGHT_NONE;
}

static void note_coding(struct codings *codings, const char *item, size_t len)
{
    const struct {
        const char *name;
        int *weight;
    } known[] = {
        {"gzip", &codings->gzip},
        {"x-gzip", &codings->gzip}, /* section 8.4.1.3 */
        {"identity", &codings->identity},
        {"*", &codings->others},
    };
    len = trim(&item, len);
    const char *end = memchr(item, ';', len);
    const char *name = item;
    size_t head = end ? (size_t)(end - item) : len;
    int weight = weight_of(item + head, len - head);
    head = trim(&name, head);
    for (size_t i = 0; i < ARRAY_LEN(known) && weight != WEIGHT_NONE; i++)
        if (strlen(known[i].name) == head && strncasecmp(known[i].name, name, head) == 0)
            *known[i].weight = weight;
}

bool http_takes_gzip(const struct http_header *headers, size_t count)
{
    struct codings codings = {WEIGHT_NONE, WEIGHT_NONE, WEIGHT_NONE};
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(headers[i].name, "Accept-Encoding") != 0)
            continue;
        for (const char *at = headers[i].value, *end; *at; at = end + (*end == ',')) {
            end = at + strcspn(at, ",");
            note_coding(&codings, at, (size_t)(end - at));
        }
    }
    int gzip = codings.gzip == WEIGHT_NONE ? codings.others : codings.gzip;
    int identity = codings.identity == WEIGHT_NONE ? codings.others : codings.identity;
    return gzip > 0 && gzip >= identity;
}

/* If-None-Match. */

static const char *after_weak(const char *tag)
{
    return strncmp(tag, "W/", 2) == 0 ? tag + 2 : tag;
}

/* A tag may hold commas: the quotes end it. */
static bool lists_tag(const char *list, const char *tag)
{
    const char *wanted = tag ? after_weak(tag) : "";
    size_t len = strlen(wanted);
    list += strspn(list, blanks);
    if (*list == '*')
        return list[1 + strspn(list + 1, blanks)] == '\0';
    for (const char *end; *list; list = end + strspn(end, ", \t")) {
        list = after_weak(list + strspn(list, ", \t"));
        if (*list != '"' || !(end = strchr(list + 1, '"')))
            return false;
        end++;
        if ((size_t)(end - list) == len && strncmp(list, wanted, len) == 0)
            return true;
    }
    return false;
}

bool http_has_already(const struct http_header *headers, size_t count, const char *tag)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(headers[i].name, "If-None-Match") == 0 && lists_tag(headers[i].value, tag))
            return true;
    return false;
}
