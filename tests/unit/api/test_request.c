/* What the functions that handlers call leave as the outcome of a job. */
#include "api/request.h"

#include "test.h"

static const struct route row = {"POST", "/v1/things", .status = 201, .output = &removed_table};

static void request_begin(struct request *request)
{
    *request = (struct request){.arena = arena_new(0), .head.route = &row};
    answer_init(&request->answer, request->arena);
}

static void request_end(struct request *request)
{
    pieces_clear(&request->pieces);
    answer_clear(&request->answer);
    arena_free(request->arena);
}

static void nothing(struct request *request)
{
    (void)request;
}

TEST(each_outcome_is_a_step)
{
    struct request request;
    request_begin(&request);
    CHECK_INT(request.job.step, STEP_NONE);
    request_answer(&request, &(struct removed){true, "x"}, 0);
    CHECK_INT(request.job.step, STEP_ANSWERED);
    CHECK_INT(request.answer.status, 201);
    CHECK_TEXT(request.answer.body.data, "{\"ok\":true,\"id\":\"x\"}");
    request_after(&request, nothing);
    CHECK_INT(request.job.step, STEP_AFTER);
    CHECK(request.job.after == nothing);
    CHECK(!request_found(&request, ERR_NOT_FOUND));
    CHECK_INT(request.job.step, STEP_UNDO);
    CHECK_INT(request.answer.status, 404);
    CHECK(!request_found(&request, ERR_IO));
    CHECK_INT(request.answer.status, 500);
    CHECK(request_found(&request, OK));
    request_end(&request);
}

TEST(faults_of_a_body_refuse_it)
{
    struct request request;
    struct field_context context = {0};
    request_begin(&request);
    field_context_init(&context, request.arena, NULL);
    CHECK(request_is_valid(&request, &context));
    CHECK_INT(request.job.step, STEP_NONE);
    faults_add(&context.faults, "name", "is missing");
    CHECK(!request_is_valid(&request, &context));
    CHECK_INT(request.job.step, STEP_UNDO);
    CHECK_INT(request.answer.error, API_VALIDATION_FAILED);
    faults_add(&context.forbidden, "config.voice", "may not be set");
    CHECK(!request_is_valid(&request, &context));
    CHECK_INT(request.answer.status, 403); /* before the faults: contract, Order of checks */
    request_end(&request);
}

static void write_half(struct request *request)
{
    (void)buf_append_str(&request->answer.body, "{");
    request_break_pieces(request);
}

TEST(pieces_that_break_in_the_first_one_are_an_error)
{
    struct request request;
    int place = 0;
    request_begin(&request);
    request_answer_pieces(&request, write_half, &place, sizeof(place));
    CHECK_INT(request.job.step, STEP_UNDO);
    CHECK_INT(request.answer.status, 500);
    CHECK(!pieces_has_more(&request.pieces));
    request_end(&request);
}
