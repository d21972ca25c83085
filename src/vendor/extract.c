/* Each sentence is scored by the words of the question that it holds, rare ones (in few sentences)
 * counting more, and by how well its passage fits. A card answers with its answer. A sentence
 * under a heading is also scored by the heading's words, since 'Parking: It is free.' answers
 * 'do you have parking'. Words of asking (sell, price, Sunday) prove nothing alone: when the
 * question names a thing, only a sentence with such a word answers it. */
#include "vendor/extract.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "text/plain.h"
#include "text/sentence.h"
#include "text/words.h"

enum {
    TERMS_MAX = 24,
    SENTENCES_MAX = 200,
    TEXT_MAX_BYTES = 16 * 1024,
};

static const double FITS_MIN = 0.3;    /* similarity of a passage with no word in common */
static const double CARD_MIN = 0.55;   /* similarity of a card that is taken as it is */
static const double SECOND_MIN = 0.75; /* score of a second sentence, of the first one's */
static const double SHARE_MIN = 0.3;   /* of the question's weight that a sentence must hold */

/* What callers ask about anything with. */
static const char asking[] =
    "open close hour time day week weekend month year morning afternoon evening night noon today "
    "tonight tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday early "
    "late "
    "long soon often start begin end finish last minute o'clock sell buy offer have get give take "
    "make bring come go leave find use need want like love know tell say ask explain help show "
    "look "
    "see talk speak speaking call phone cost price charge pay fee expensive cheap much many far "
    "near "
    "close nearest location located address place possible allow allowed permit permitted "
    "available "
    "include included please question information about work works happen happens mean kind type "
    "sort difference good best better new old big small large free extra special still also really "
    "usually currently people person someone anyone something anything thing way";

struct term {
    char stem[WORD_MAX_BYTES];
    size_t in_sentences;
    double weight;
    bool is_asking, is_unsure;
};

struct sentence {
    const char *text;
    const char *context; /* the heading it stands under, or NULL */
    size_t passage;
    uint32_t terms; /* bits */
    double score;
};

struct extract {
    struct arena *arena;
    const struct llm_request *request;
    struct term terms[TERMS_MAX];
    size_t term_count;
    struct sentence *sentences;
    size_t sentence_count;
    double weight;  /* of all terms */
    uint32_t topic; /* the terms that prove something, bits */
};

static int add_term(void *arg, const struct word *word)
{
    struct extract *extract = arg;
    if (word_is_stop(word->folded, extract->request->language))
        return 0;
    for (size_t i = 0; i < extract->term_count; i++)
        if (strcmp(extract->terms[i].stem, word->stem) == 0)
            return 0;
    struct term *term = &extract->terms[extract->term_count++];
    memcpy(term->stem, word->stem, strlen(word->stem) + 1);
    return extract->term_count == TERMS_MAX;
}

static int mark_unsure(void *arg, const struct word *word)
{
    struct extract *extract = arg;
    for (size_t i = 0; i < extract->term_count; i++)
        if (strcmp(extract->terms[i].stem, word->stem) == 0)
            extract->terms[i].is_unsure = true;
    return 0;
}

static int mark_asking(void *arg, const struct word *word)
{
    struct extract *extract = arg;
    for (size_t i = 0; i < extract->term_count; i++)
        if (strcmp(extract->terms[i].stem, word->stem) == 0)
            extract->terms[i].is_asking = true;
    return 0;
}

/* Without the table for a language, and in a question of asking alone, every word counts. */
static void find_topic(struct extract *extract)
{
    uint32_t all = 0;
    if (strcmp(extract->request->language, "en") == 0)
        words_each(asking, "en", mark_asking, extract);
    for (size_t i = 0; i < extract->term_count; i++) {
        all |= 1u << i;
        extract->topic |= extract->terms[i].is_asking ? 0 : 1u << i;
    }
    extract->topic = extract->topic ? extract->topic : all;
}

/* Words that may be others prove nothing. true: some would have. */
static bool leave_out_unsure(struct extract *extract)
{
    uint32_t before = extract->topic;
    if (extract->request->unsure)
        words_each(extract->request->unsure, extract->request->language, mark_unsure, extract);
    for (size_t i = 0; i < extract->term_count; i++)
        if (extract->terms[i].is_unsure)
            extract->topic &= ~(1u << i);
    return extract->topic != before;
}

struct mark {
    struct extract *extract;
    uint32_t terms;
};

static int mark_term(void *arg, const struct word *word)
{
    struct mark *mark = arg;
    for (size_t i = 0; i < mark->extract->term_count; i++)
        if (strcmp(mark->extract->terms[i].stem, word->stem) == 0)
            mark->terms |= 1u << i;
    return 0;
}

static uint32_t terms_of(struct extract *extract, const char *text)
{
    struct mark mark = {extract, 0};
    if (text)
        words_each(text, extract->request->language, mark_term, &mark);
    return mark.terms;
}

static bool is_heading(const char *text)
{
    char last = text[strlen(text) - 1];
    return words_count(text) <= 6 && last != '.' && last != '!' && last != '?' && last != '\xA4';
}

static void add_sentences(struct extract *extract, size_t passage)
{
    struct splitter splitter;
    splitter_init(&splitter, false);
    const char *text = extract->request->passages[passage].text, *piece, *heading = NULL;
    size_t len = strnlen(text, TEXT_MAX_BYTES);
    if (splitter_push(&splitter, text, len) == OK)
        splitter_finish(&splitter);
    AUTO_BUF plain = BUF_INIT(TEXT_MAX_BYTES);
    while (extract->sentence_count < SENTENCES_MAX && (piece = splitter_next(&splitter))) {
        buf_reset(&plain);
        plain_speech(piece, &plain);
        if (plain.len == 0)
            continue;
        const char *copy = arena_strdup(extract->arena, plain.data);
        if (is_heading(copy)) {
            heading = copy;
            continue;
        }
        extract->sentences[extract->sentence_count++] = (struct sentence){
            copy, heading, passage, terms_of(extract, copy) | terms_of(extract, heading), 0};
    }
    splitter_clear(&splitter);
}

static void weigh_terms(struct extract *extract)
{
    for (size_t t = 0; t < extract->term_count; t++) {
        struct term *term = &extract->terms[t];
        for (size_t s = 0; s < extract->sentence_count; s++)
            term->in_sentences += extract->sentences[s].terms >> t & 1;
        term->weight =
            log(1 + (double)(extract->sentence_count + 1) / (double)(term->in_sentences + 1));
        extract->weight += term->weight;
    }
}

static void score_sentences(struct extract *extract)
{
    for (size_t s = 0; s < extract->sentence_count; s++) {
        struct sentence *sentence = &extract->sentences[s];
        double held = 0;
        for (size_t t = 0; t < extract->term_count; t++)
            held += sentence->terms >> t & 1 ? extract->terms[t].weight : 0;
        double share = extract->weight > 0 ? held / extract->weight : 0;
        double fits = extract->request->passages[sentence->passage].similarity;
        sentence->score = share < SHARE_MIN && fits < FITS_MIN ? 0 : share + fits / 2;
        if ((sentence->terms & extract->topic) == 0 && fits < CARD_MIN)
            sentence->score = 0;
    }
}

static const struct llm_passage *best_card(const struct llm_request *request)
{
    const struct llm_passage *best = NULL;
    for (size_t i = 0; i < request->passage_count; i++) {
        const struct llm_passage *passage = &request->passages[i];
        if (passage->question && passage->similarity >= CARD_MIN &&
            (!best || passage->similarity > best->similarity))
            best = passage;
    }
    return best && best->similarity >= request->passages[0].similarity ? best : NULL;
}

static void put_sentence(const char *text, struct buf *out)
{
    if (out->len > 0)
        (void)buf_append_char(out, ' ');
    (void)buf_append_str(out, text);
    if (!strchr(".!?", text[strlen(text) - 1]) && (unsigned char)text[strlen(text) - 1] < 0x80)
        (void)buf_append_char(out, '.');
}

/* The best sentence, and of its passage the next best if it is nearly as good, in their order. */
static void put_best(struct extract *extract, struct buf *out)
{
    const struct sentence *first = NULL, *second = NULL;
    for (size_t s = 0; s < extract->sentence_count; s++)
        if (!first || extract->sentences[s].score > first->score)
            first = &extract->sentences[s];
    if (!first || first->score <= 0)
        return;
    for (size_t s = 0; s < extract->sentence_count; s++) {
        const struct sentence *other = &extract->sentences[s];
        if (other != first && other->passage == first->passage &&
            other->score >= SECOND_MIN * first->score && other->score > 0 &&
            (!second || other->score > second->score))
            second = other;
    }
    bool has_room = second && strlen(first->text) + strlen(second->text) < EXTRACT_MAX_BYTES;
    if (has_room && second < first)
        put_sentence(second->text, out);
    put_sentence(first->text, out);
    if (has_room && second > first)
        put_sentence(second->text, out);
}

bool extract_answer(const struct llm_request *request, const char *said, struct buf *out)
{
    if (request->passage_count == 0)
        return true;
    const struct llm_passage *card = best_card(request);
    if (card) {
        extract_shorten(card->text, out);
        return true;
    }
    AUTO(arena) arena = arena_new(0);
    struct extract *extract = arena_new_of(arena, struct extract);
    extract->arena = arena;
    extract->request = request;
    extract->sentences = arena_new_n(arena, struct sentence, SENTENCES_MAX);
    words_each(said, request->language, add_term, extract);
    find_topic(extract);
    bool has_unsure = leave_out_unsure(extract);
    for (size_t i = 0; i < request->passage_count; i++)
        add_sentences(extract, i);
    weigh_terms(extract);
    score_sentences(extract);
    put_best(extract, out);
    return out->len > 0 || !has_unsure;
}

void extract_shorten(const char *text, struct buf *out)
{
    struct splitter splitter;
    splitter_init(&splitter, false);
    AUTO_BUF plain = BUF_INIT(TEXT_MAX_BYTES);
    size_t sentences = 0, len = strnlen(text, TEXT_MAX_BYTES);
    const char *piece;
    if (splitter_push(&splitter, text, len) == OK)
        splitter_finish(&splitter);
    while (sentences < EXTRACT_SENTENCES_MAX && (piece = splitter_next(&splitter))) {
        buf_reset(&plain);
        plain_speech(piece, &plain);
        if (plain.len == 0)
            continue;
        if (sentences++ > 0 && out->len + plain.len > EXTRACT_MAX_BYTES)
            break;
        put_sentence(plain.data, out);
    }
    splitter_clear(&splitter);
}
