#include "talk/speech.h"
#include "test.h"

TEST(pieces_are_counted_as_they_are_played)
{
    struct speech speech;
    speech_init(&speech);
    struct speech_line *line = speech_open(&speech, SPEECH_REPLY, true, false);
    speech_add(line, "First one.", false);
    speech_add(line, "Second one.", false);
    speech_close(line);
    bool is_last = true;
    struct speech_piece *piece = speech_ask(&speech, &is_last);
    REQUIRE(piece != NULL);
    CHECK(!is_last);
    uint32_t first = piece->gen;
    piece = speech_ask(&speech, &is_last);
    REQUIRE(piece != NULL);
    CHECK(is_last);
    uint32_t second = piece->gen;
    CHECK(speech_audio(&speech, first, 1000));
    CHECK(!speech_audio(&speech, second + 1, 1000));
    speech_done(&speech, first);
    CHECK_INT(speech_played(line, 960, 5), 0);
    CHECK_INT(line->began_us, 5);
    CHECK_INT(speech_played(line, 40, 6), 0);
    CHECK_TEXT(line->heard.data, "First one.");
    speech_audio(&speech, second, 4800);
    speech_done(&speech, second);
    CHECK_INT(speech_played(line, 5000, 7), 200);
    CHECK(speech_is_over(line));
    AUTO_BUF heard = BUF_INIT(1000);
    speech_heard(line, &heard);
    CHECK_TEXT(heard.data, "First one. Second one.");
    speech_clear(&speech);
}

TEST(half_a_piece_holds_half_of_its_words)
{
    struct speech speech;
    speech_init(&speech);
    struct speech_line *line = speech_open(&speech, SPEECH_REPLY, true, false);
    speech_add(line, "aaaa bbbb cccc dddd", false);
    bool is_last;
    struct speech_piece *piece = speech_ask(&speech, &is_last);
    speech_audio(&speech, piece->gen, 48000);
    speech_done(&speech, piece->gen);
    speech_played(line, 24000, 1);
    AUTO_BUF heard = BUF_INIT(1000);
    speech_heard(line, &heard);
    CHECK_TEXT(heard.data, "aaaa bbbb");
    speech_clear(&speech);
}

TEST(urgent_lines_go_first_and_keep_their_order)
{
    struct speech speech;
    speech_init(&speech);
    struct speech_line *reply = speech_open(&speech, SPEECH_REPLY, true, false);
    struct speech_line *one = speech_open(&speech, SPEECH_SAY, false, true);
    struct speech_line *two = speech_open(&speech, SPEECH_SAY, false, true);
    CHECK(speech_front(&speech) == one);
    speech_drop(one);
    CHECK(speech_front(&speech) == two);
    speech_drop(two);
    CHECK(speech_front(&speech) == reply);
    speech_clear(&speech);
}

TEST(a_cancelled_voice_is_asked_again_for_what_was_not_played)
{
    struct speech speech;
    speech_init(&speech);
    struct speech_line *line = speech_open(&speech, SPEECH_REPLY, true, false);
    speech_add(line, "one two three four", false);
    speech_add(line, "Then this.", false);
    speech_close(line);
    bool is_last;
    struct speech_piece *piece = speech_ask(&speech, &is_last);
    uint32_t gen = piece->gen;
    speech_audio(&speech, gen, 96000);
    speech_ask(&speech, &is_last);
    speech_played(line, 48000, 1);
    speech_unask(&speech);
    CHECK(!speech_audio(&speech, gen, 10));
    piece = speech_ask(&speech, &is_last);
    REQUIRE(piece != NULL);
    CHECK_TEXT(line->heard.data, "one two"); /* half of the sentence was heard */
    CHECK_TEXT(piece->text, "three four");
    piece = speech_ask(&speech, &is_last);
    REQUIRE(piece != NULL);
    CHECK_TEXT(piece->text, "Then this.");
    speech_clear(&speech);
}
