/* How calls are answered: each with its transcript, in pieces (api/pieces.h), since a transcript
 * may be a day of talk. Thread: inside a job. */
#pragma once

struct call_page;
struct request;

/* { calls, total, nextCursor }: each call as it is when it is written. */
void calls_write_page(struct request *request, const struct call_page *page);
/* { call }: the call of the path. */
void calls_write_one(struct request *request);
