/* How agents are answered: each with its tools and its price, in pieces (api/pieces.h), since an
 * agent with its tools may be larger than memory should hold. Thread: inside a job. */
#pragma once

struct agent;
struct page;
struct request;

/* { agents } in the order of the page's ids, each read when its turn comes; removed ones are left
 * out. The page lives until the answer is sent. */
void agents_write(struct request *request, const struct page *page);
/* { agent } or { apiKey, agent }, by the route: the agent of the path. */
void agents_show(struct request *request);
/* The same for an agent that this job has written: shown as it was written, by a later job. */
void agents_show_written(struct request *request, const struct agent *agent);
