/* Where an answer in pieces stands, when its job runs once and when it runs again. */
#include "api/pieces.h"

#include "base/arena.h"
#include "test.h"

static void more(struct request *request)
{
    (void)request;
}

TEST(a_piece_that_runs_again_begins_where_it_began)
{
    AUTO(arena) arena = arena_new(0);
    struct pieces pieces = {0};
    int at = 1;
    pieces_init(&pieces, arena, more, &at, sizeof(at));
    at = 2; /* the first piece is made and sent */
    pieces_settle(&pieces);
    at = 3;
    pieces_end(&pieces);
    CHECK(!pieces_has_more(&pieces));
    pieces_restore(&pieces);
    CHECK_INT(at, 2);
    CHECK(pieces_has_more(&pieces));
    pieces_clear(&pieces);
}

TEST(what_a_place_points_at_lives_until_its_piece_is_sent)
{
    AUTO(arena) arena = arena_new(0);
    struct pieces pieces = {0};
    const char *word = "";
    pieces_init(&pieces, arena, more, &word, sizeof(word));
    word = arena_strdup(pieces_keep(&pieces), "one");
    pieces_settle(&pieces);
    word = arena_strdup(pieces_keep(&pieces), "lost with its attempt");
    pieces_restore(&pieces);
    CHECK_TEXT(word, "one");
    word = arena_strdup(pieces_keep(&pieces), "two");
    pieces_settle(&pieces); /* "one" is freed, "two" is what counts */
    pieces_restore(&pieces);
    CHECK_TEXT(word, "two");
    pieces_clear(&pieces);
    CHECK(!pieces_has_more(&pieces));
}
