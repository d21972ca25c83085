/* Cutting texts into sections and cards, guessing languages, terms. */
#include <string.h>

#include "base/arena.h"
#include "extract/block.h"
#include "know/language.h"
#include "know/passages.h"
#include "know/terms.h"
#include "test.h"
#include "text/words.h"

TEST(text_is_cut_under_its_headings)
{
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    REQUIRE(passages_cut("# Parking\nGuests park free of charge.\n\n"
                         "The garage closes at ten.\n\n"
                         "Breakfast\n\nIt is served from seven to ten.\n",
                         NULL, arena, &cut) == OK);
    REQUIRE(cut.count == 2 && cut.topics.count == 2);
    CHECK_TEXT(cut.topics.items[0], "Parking");
    CHECK_TEXT(cut.topics.items[1], "Breakfast");
    CHECK_TEXT(cut.items[0].text, "Parking\nGuests park free of charge. The garage closes at ten.");
    CHECK_TEXT(cut.items[1].text, "Breakfast\nIt is served from seven to ten.");
    CHECK(!cut.items[0].question);
    CHECK_TEXT(cut.items[0].language, "en");
}

TEST(questions_with_answers_become_cards)
{
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    REQUIRE(passages_cut("Q: May I bring a dog?\nA: Yes, on the terrace.\n"
                         "Q: Is there parking?\nA: Yes,\nbehind the house.\n\n"
                         "Do you take cards?\n\nAll of them, and cash.\n\n"
                         "Is this answered?\n",
                         NULL, arena, &cut) == OK);
    REQUIRE(cut.count == 4);
    CHECK_TEXT(cut.items[0].question, "May I bring a dog?");
    CHECK_TEXT(cut.items[0].text, "Yes, on the terrace.");
    CHECK_TEXT(cut.items[1].text, "Yes,\nbehind the house.");
    CHECK_TEXT(cut.items[2].question, "Do you take cards?");
    CHECK_TEXT(cut.items[2].text, "All of them, and cash.");
    CHECK(!cut.items[3].question);
    CHECK_TEXT(cut.items[3].text, "Is this answered?");
}

TEST(long_paragraph_is_cut_between_sentences)
{
    AUTO(arena) arena = arena_new(0);
    AUTO_BUF text = BUF_INIT(1 << 20);
    for (int i = 0; i < 200; i++)
        (void)buf_printf(&text, "This is sentence number %d of a long paragraph. ", i);
    struct passages cut;
    REQUIRE(passages_cut(text.data, NULL, arena, &cut) == OK);
    CHECK(cut.count > 15 && cut.count < 40);
    for (size_t i = 0; i < cut.count; i++) {
        CHECK(text_length(cut.items[i].text) <= 600);
        CHECK(strncmp(cut.items[i].text, "This is sentence", 16) == 0);
    }
}

/* What a card's question and answer are, of all that were found: "question|answer". */
static void check_card(const struct passages *cut, const char *question, const char *answer)
{
    for (size_t i = 0; i < cut->count; i++)
        if (cut->items[i].question && strcmp(cut->items[i].question, question) == 0) {
            CHECK_TEXT(cut->items[i].text, answer);
            return;
        }
    CHECK_TEXT("no such card", question);
}

TEST(questions_are_known_by_labels_of_many_languages)
{
    static const struct {
        const char *text, *question, *answer;
    } rows[] = {
        {"प्रश्न: नाश्ता कब मिलता है?\nउत्तर: सात बजे।", "नाश्ता कब मिलता है?", "सात बजे।"},
        {"Frage: Gibt es Parkplätze?\nAntwort: Ja, hinter dem Haus.", "Gibt es Parkplätze?",
         "Ja, hinter dem Haus."},
        {"1. Question: Tell me the price\nAnswer - 12 dollars.", "Tell me the price",
         "12 dollars."},
        {"Q1. How late is it open?\nA1. Until ten.", "How late is it open?", "Until ten."},
        {"Pregunta: ¿Hay piscina?\n\nRespuesta: Sí, en el tejado.", "¿Hay piscina?",
         "Sí, en el tejado."},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena) arena = arena_new(0);
        struct passages cut;
        REQUIRE(passages_cut(rows[i].text, NULL, arena, &cut) == OK);
        if (rows[i].question)
            check_card(&cut, rows[i].question, rows[i].answer);
    }
}

TEST(a_heading_that_asks_is_answered_by_what_stands_below_it)
{
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    REQUIRE(passages_cut(
                "# Rooms\n\n## How do I cancel?\nCall the office.\n\n- before noon\n- after two\n\n"
                "## Prices\nThey are on the door.\n",
                NULL, arena, &cut) == OK);
    check_card(&cut, "How do I cancel?", "Call the office.\nbefore noon\nafter two");
    REQUIRE(cut.count == 2 && cut.topics.count == 2);
    CHECK_TEXT(cut.items[1].text, "Prices\nThey are on the door.");
}

TEST(rows_of_a_table_stand_alone)
{
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    REQUIRE(passages_cut("# Rooms\n\n|Room|Price|\n|---|---|\n|Deluxe|4,500|\n|Standard|2,500|\n\n"
                         "|Check-in|3 pm|\n|Check-out|11 am|\n\n"
                         "|Is there a pool?|Yes, on the roof.|\n|Is it heated?|No.|\n",
                         NULL, arena, &cut) == OK);
    REQUIRE(cut.count == 3);
    CHECK_TEXT(cut.items[0].text,
               "Rooms\nRoom: Deluxe; Price: 4,500\nRoom: Standard; Price: 2,500\n"
               "Check-in: 3 pm\nCheck-out: 11 am");
    check_card(&cut, "Is there a pool?", "Yes, on the roof.");
    check_card(&cut, "Is it heated?", "No.");
}

TEST(lines_of_a_key_and_a_value_are_cards_beside_their_section)
{
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    REQUIRE(passages_cut(
                "Times\n\nCheck-in: from 3 pm\nCheck-out: until 11 am\nPool – May to September\n\n"
                "Note: this one stands alone.\n",
                NULL, arena, &cut) == OK);
    check_card(&cut, "Check-in", "Check-in: from 3 pm");
    check_card(&cut, "Pool", "Pool – May to September");
    REQUIRE(cut.count == 4 && !cut.items[0].question);
    CHECK(strstr(cut.items[0].text, "Check-out: until 11 am") &&
          strstr(cut.items[0].text, "Note:"));
}

TEST(no_sentence_is_cut)
{
    AUTO(arena) arena = arena_new(0);
    AUTO_BUF text = BUF_INIT(1 << 20);
    for (int i = 0; i < 40; i++) {
        (void)buf_printf(&text, "Sentence %d begins", i);
        for (int k = 0; k < (i % 7) * 12; k++)
            (void)buf_append_str(&text, k % 9 ? " word" : "\nword that wraps");
        (void)buf_append_str(&text, " and ends. ");
    }
    struct passages cut;
    REQUIRE(passages_cut(text.data, NULL, arena, &cut) == OK);
    for (size_t i = 0; i < cut.count; i++) {
        const char *got = cut.items[i].text;
        CHECK(strncmp(got, "Sentence ", 9) == 0);
        CHECK(strcmp(got + strlen(got) - 4, "nds.") == 0);
    }
}

TEST(lines_with_nothing_below_them_are_text)
{
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    REQUIRE(passages_cut("Prices\n\nHaircut 300 rupees\n\nShave 150 rupees\n\nOpening hours\n\n"
                         "We open at nine.\n\nClosed on Mondays\n",
                         NULL, arena, &cut) == OK);
    REQUIRE(cut.count == 2);
    CHECK_TEXT(cut.items[0].text, "Prices\nHaircut 300 rupees\nShave 150 rupees");
    CHECK_TEXT(cut.items[1].text, "Opening hours\nWe open at nine.\nClosed on Mondays");
}

TEST(odd_texts_do_no_harm)
{
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    CHECK_INT(passages_cut("", NULL, arena, &cut), ERR_INVALID);
    CHECK_INT(passages_cut(" \n\n \t\n", NULL, arena, &cut), ERR_INVALID);
    CHECK_INT(passages_cut("?\n?\n?", NULL, arena, &cut), OK);
    CHECK_INT(passages_cut("Opening hours", NULL, arena, &cut), OK);
    CHECK_INT(passages_cut("###\n\n#\n\n- \n* a", NULL, arena, &cut), OK);
    CHECK_INT(passages_cut("\xE0\xA4", NULL, arena, &cut), ERR_INVALID);
}

TEST(what_nobody_waits_for_is_not_cut)
{
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    _Atomic bool is_unwanted = false;
    CHECK_INT(passages_cut("Guests park free of charge.", &is_unwanted, arena, &cut), OK);
    is_unwanted = true;
    CHECK_INT(passages_cut("Guests park free of charge.", &is_unwanted, arena, &cut), ERR_CLOSED);
    struct block block = {.kind = BLOCK_PARAGRAPH, .text = "Guests park free of charge."};
    const struct block_list blocks = {.items = &block, .count = 1};
    CHECK_INT(passages_of(&blocks, &is_unwanted, arena, &cut), ERR_CLOSED);
    CHECK_INT(passages_of(&blocks, NULL, arena, &cut), OK);
}

TEST(language_is_guessed)
{
    static const struct {
        const char *text, *iso;
    } rows[] = {
        {"The rooms are ready at three in the afternoon.", "en"},
        {"Las habitaciones est\xC3\xA1n listas a las tres de la tarde y el desayuno es gratis",
         "es"},
        {"Les chambres sont pr\xC3\xAAtes et le petit d\xC3\xA9jeuner est inclus dans le prix",
         "fr"},
        {"Die Zimmer sind ab drei Uhr bereit und das Fr\xC3\xBChst\xC3\xBC"
         "ck ist inklusive",
         "de"},
        {"कमरे तीन बजे तैयार होते हैं और नाश्ता मुफ़्त है", "hi"},
        {"खोली तीन वाजता तयार असते आणि नाश्ता मोफत आहे", "mr"},
        {"அறைகள் மூன்று மணிக்கு தயார்", "ta"},
        {"గదులు మూడు గంటలకు సిద్ధం", "te"},
        {"Комнаты готовы в три часа", "ru"},
        {"12345", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_TEXT(language_guess(rows[i].text), rows[i].iso);
}

static bool has_word(const char *text, const char *iso, const char *word)
{
    AUTO(arena) arena = arena_new(0);
    struct passage passage = {.text = text, .language = iso};
    struct word_list words = {0};
    know_words(&passage, arena, &words);
    for (size_t i = 0; i < words.count; i++)
        if (strcmp(words.items[i], word) == 0)
            return true;
    return false;
}

TEST(numbers_stand_by_their_value)
{
    CHECK(has_word("The rooms cost 6,500 rupees.", "en", "#6500"));
    CHECK(has_word("It is 1,50,000 a year.", "en", "#150000"));
    CHECK(has_word("At 10am, 25 people", "en", "#10") && has_word("At 10am, 25", "en", "#25"));
    CHECK(has_word("two hundred and fifty", "en", "#250"));
    CHECK(has_word("two hundred and fifty", "en", "hundred"));
    CHECK(has_word("ढाई सौ रुपये", "hi", "#250"));
    CHECK(has_word("dedh sau rupaye", "hi-latn", "#150"));
    CHECK(has_word("१२५ रुपये", "hi", "#125"));
    CHECK(has_word("$5 each", "en", "\xC2\xA4") && has_word("$5 each", "en", "#5"));
    CHECK(has_word("one, two, 3,4", "en", "#3"));
    CHECK(!has_word("pay 5, 500 times", "en", "#5500"));
}

TEST(heading_or_question_leads)
{
    AUTO(arena) arena = arena_new(0);
    struct passage section = {.text = "Car parking\nIt is free.", .language = "en"};
    struct passage card = {
        .question = "Is there parking?", .text = "Yes,\nit is free.", .language = "en"};
    struct passage plain = {.text = "It is free.", .language = "en"};
    struct word_list words = {0}, of_card = {0}, of_plain = {0};
    know_words(&section, arena, &words);
    know_words(&card, arena, &of_card);
    know_words(&plain, arena, &of_plain);
    CHECK_INT(words.lead, 2);
    CHECK_INT(words.count, 5);
    CHECK_INT(of_card.lead, 3);
    CHECK_INT(of_plain.lead, 0);
}

static bool has_key(const char *word, const char *iso, const char *key)
{
    AUTO_BUF keys = BUF_INIT(4096);
    know_keys(word, iso, &keys);
    const char *at = keys.data ? strstr(keys.data, key) : NULL;
    return at && (at == keys.data || at[-1] == ' ');
}

TEST(keys_find_other_forms)
{
    CHECK(has_key("rooms", "en", "~room"));
    CHECK(has_key("prices", "en", "@0"));
    CHECK(has_key("पार्किंग", "hi", "=PRKNK") && has_key("parking", "en", "=PRKNK"));
    CHECK(!has_key("#250", "en", "~"));
}
