/* One pass over a piece: what a voice cannot say is dropped or replaced where it stands. */
#include "text/plain.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <unicode/uchar.h>

#include "text/internal.h"

enum {
    CHAR_MAX_BYTES = 4,
    TAG_MAX_BYTES = 64, /* a longer <...> is text */
    VARIATION_SELECTOR = 0xFE0F,
    ZERO_WIDTH_NON_JOINER = 0x200C, /* both belong to words of Indic scripts */
    ZERO_WIDTH_JOINER = 0x200D,
    REGIONAL_FIRST = 0x1F1E6,
    REGIONAL_LAST = 0x1F1FF,
    KEYCAP = 0x20E3,
    TAGS_FIRST = 0xE0000, /* plane of tags and further selectors */
};

static void put_char(struct buf *out, char c)
{
    bool is_space = isspace((unsigned char)c);
    if (is_space && (out->len == 0 || out->data[out->len - 1] == ' '))
        return;
    (void)buf_append_char(out, is_space ? ' ' : c);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* [text](address): the text; NULL: no link. */
static const char *take_link(const char *at, struct buf *out)
{
    const char *open = *at == '!' ? at + 1 : at;
    const char *close = *open == '[' ? strchr(open, ']') : NULL;
    const char *end = close && close[1] == '(' ? strchr(close, ')') : NULL;
    if (!end)
        return NULL;
    for (const char *c = open + 1; c < close; c++)
        if (!strchr("*_`", *c))
            put_char(out, *c);
    return end + 1;
}

/* An address is said by its host. */
static const char *take_address(const char *at, struct buf *out)
{
    static const char *const schemes[] = {"https://", "http://"};
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t len = strlen(schemes[i]);
        if (strncasecmp(at, schemes[i], len) != 0)
            continue;
        const char *host = at + len;
        host += strncasecmp(host, "www.", 4) == 0 ? 4 : 0;
        size_t host_len = strcspn(host, "/?#:, \t\n)]>");
        const char *end = host + host_len;
        end += strcspn(end, ", \t\n)]>");
        for (size_t k = 0; k < host_len; k++)
            put_char(out, host[k]);
        if (end[-1] == '.' && host_len > 0 && host[host_len - 1] != '.')
            put_char(out, '.');
        return end;
    }
    return NULL;
}

/* The name of an e-mail address, whose underscores are its own. */
static const char *take_mail_name(const char *text, const char *at, struct buf *out)
{
    bool is_begun = at > text && (is_word(at[-1]) || strchr("._+-", at[-1]));
    size_t len = is_begun ? 0
                          : strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789._+-");
    if (len == 0 || at[len] != '@' || !is_word(at[len + 1]))
        return NULL;
    for (size_t i = 0; i <= len; i++)
        put_char(out, at[i]);
    return at + len + 1;
}

/* <https://...>, <name@host>: what is inside. */
static const char *take_bracketed(const char *at, struct buf *out)
{
    const char *inside = at + 1, *end = inside + strcspn(inside, " \t\n<>");
    if (*at != '<' || *end != '>')
        return NULL;
    const char *next = take_address(inside, out);
    if (!next)
        next = take_mail_name(at, inside, out);
    for (; next && next < end; next++)
        put_char(out, *next);
    return next ? end + 1 : NULL;
}

static const char *take_tag(const char *at)
{
    if (*at != '<' || !(isalpha((unsigned char)at[1]) || at[1] == '/'))
        return NULL;
    const char *end = strchr(at, '>');
    return end && end - at < TAG_MAX_BYTES ? end + 1 : NULL;
}

static bool is_picture(UChar32 c, bool after_picture)
{
    if (c == ZERO_WIDTH_JOINER)
        return after_picture;
    return c == VARIATION_SELECTOR || c == KEYCAP || c >= TAGS_FIRST ||
           (c >= REGIONAL_FIRST && c <= REGIONAL_LAST) ||
           u_hasBinaryProperty(c, UCHAR_EXTENDED_PICTOGRAPHIC) ||
           u_hasBinaryProperty(c, UCHAR_EMOJI_MODIFIER);
}

static bool is_unseen(UChar32 c)
{
    int8_t type = u_charType(c);
    return type == U_CONTROL_CHAR ||
           (type == U_FORMAT_CHAR && c != ZERO_WIDTH_JOINER && c != ZERO_WIDTH_NON_JOINER);
}

/* Bullets, arrows, boxes and other shapes that stand between words. */
static bool is_drawn(UChar32 c)
{
    static const UChar32 blocks[][2] = {
        {0x2022, 0x2023}, {0x2043, 0x2043}, {0x2190, 0x21FF}, {0x2500, 0x27BF}, {0x2B00, 0x2BFF}};
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
        if (c >= blocks[i][0] && c <= blocks[i][1])
            return true;
    return false;
}

/* A character beyond ASCII: pictures and controls go. Returns the place after it. */
static const char *take_wide(const char *at, bool *is_after_picture, struct buf *out)
{
    int32_t len = 0, all = (int32_t)strnlen(at, CHAR_MAX_BYTES);
    UChar32 c = text_next(at, all, &len);
    *is_after_picture = c < 0 || is_picture(c, *is_after_picture);
    if (c < 0 || *is_after_picture || is_unseen(c))
        return at + len;
    if (is_drawn(c))
        put_char(out, ' ');
    else
        (void)buf_append(out, at, (size_t)len);
    return at + len;
}

/* Marks at the start of a line: headings, quotes, bullets. */
static const char *skip_line_marks(const char *at)
{
    at += strspn(at, " \t");
    while (*at == '#' || *at == '>')
        at++;
    at += strspn(at, " \t");
    if (strchr("-*+", *at) && *at && at[1] == ' ')
        at += 2;
    if (strncmp(at, "```", 3) == 0)
        at += strcspn(at, "\n");
    return at;
}

/* "5*4", "5 * 4", "10~12": without what joins them they would be another number. */
static bool joins_numbers(const char *text, const char *at)
{
    ptrdiff_t gap = at[1] == ' ' ? 1 : 0;
    return at - text > gap && isdigit((unsigned char)at[-1 - gap]) &&
           isdigit((unsigned char)at[1 + gap]) && (!gap || (at[-1] == ' ' && *at == '*'));
}

static const char *take_ascii(const char *text, const char *at, struct buf *out)
{
    char c = *at;
    char before = at > text ? at[-1] : ' ';
    bool joins_words = is_word(before) && is_word(at[1]);
    bool ends_word = (c == '.' || c == ',') && !is_word(at[1]);
    if (ends_word && out->len > 1 && out->data[out->len - 1] == ' ')
        out->len--; /* of what stood there and went */
    if ((c == '*' || c == '~') && joins_numbers(text, at)) {
        (void)buf_append_str(out, c == '~' ? "-" : before == ' ' ? "×" : " × ");
        return at + 1;
    }
    if (c == '*' || c == '`' || c == '~' || (c == '_' && !joins_words))
        return at + 1;
    if (c == '_')
        put_char(out, ' ');
    else if (c == '|')
        put_char(out, out->len > 0 && at[1] ? ',' : ' ');
    else if (c == '\n' || !iscntrl((unsigned char)c))
        put_char(out, c);
    else
        put_char(out, ' ');
    return at + 1;
}

static const char *take(const char *text, const char *at, struct buf *out)
{
    const char *next = NULL;
    if (*at == '[' || *at == '!')
        next = take_link(at, out);
    else if (*at == 'h' || *at == 'H')
        next = take_address(at, out);
    else if (*at == '<')
        next = take_bracketed(at, out);
    if (!next && *at == '<')
        next = take_tag(at);
    if (!next && is_word(*at))
        next = take_mail_name(text, at, out);
    return next ? next : take_ascii(text, at, out);
}

static bool has_words(const struct buf *buf)
{
    int32_t at = 0, len = (int32_t)buf->len;
    while (at < len) {
        UChar32 c = text_next(buf->data, len, &at);
        if (c >= 0 && u_isalnum(c))
            return true;
    }
    return false;
}

void plain_speech(const char *text, struct buf *out)
{
    AUTO_BUF plain = BUF_INIT(out->max_bytes);
    bool is_after_picture = false;
    const char *at = skip_line_marks(text);
    while (*at) {
        if ((unsigned char)*at >= 0x80) {
            at = take_wide(at, &is_after_picture, &plain);
            continue;
        }
        is_after_picture = false;
        bool is_line_end = *at == '\n';
        at = take(text, at, &plain);
        if (is_line_end)
            at = skip_line_marks(at);
    }
    while (plain.len > 0 && plain.data[plain.len - 1] == ' ')
        plain.len--;
    if (has_words(&plain))
        (void)buf_append(out, plain.data, plain.len);
}

/* <think> */

static const char *const think_open = "<think>", *const think_close = "</think>";

void think_filter_init(struct think_filter *filter)
{
    *filter = (struct think_filter){0};
}

static void release(struct think_filter *filter, struct buf *out)
{
    if (!filter->is_inside)
        (void)buf_append(out, filter->held, filter->held_len);
    filter->held_len = 0;
}

void think_filter_push(struct think_filter *filter, const char *delta, struct buf *out)
{
    for (; *delta; delta++) {
        const char *tag = filter->is_inside ? think_close : think_open;
        if (*delta != tag[filter->held_len])
            release(filter, out);
        if (*delta != tag[filter->held_len]) {
            if (!filter->is_inside)
                (void)buf_append_char(out, *delta);
            continue;
        }
        filter->held[filter->held_len++] = *delta;
        if (tag[filter->held_len])
            continue;
        filter->held_len = 0;
        filter->is_inside = !filter->is_inside;
    }
}

void think_filter_finish(struct think_filter *filter, struct buf *out)
{
    release(filter, out);
}
