/* How agents are answered: each with its tools and its price, in pieces (api/pieces.h), since an
 * agent with its tools may be larger than memory should hold. Thread: inside a job. */
#pragma once

struct agent;
struct request;
struct text_list;

/* { agents }: those of the ids, in this order, as each is when it is written; one that has gone
 * meanwhile is left out. */
void agents_write(struct request *request, const struct text_list *ids);
/* { agent } or { apiKey, agent }, by the route: the agent of the path. */
void agents_show(struct request *request);
/* The same for one that this job has written: as it was written, in a job behind it. */
void agents_show_written(struct request *request, const struct agent *agent);
