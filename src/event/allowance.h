/* What may be taken from the outbox now, as the sender saw it when a take began: how many
 * deliveries of a line, how many units of a workspace. It goes with the job to the store's thread;
 * nothing in it changes any more. Thread: one at a time. */
#pragma once

struct allowance;

/* standard_line: of a line that is not named; standard_workspace: of a workspace that is not. */
struct allowance *allowance_new(unsigned standard_line, unsigned standard_workspace);
void allowance_free(struct allowance *allowance);
/* Named twice (its subscription has a new URL): the larger counts. */
void allowance_set_line(struct allowance *allowance, const char *workspace_id, const char *line,
                        unsigned room);
void allowance_set_workspace(struct allowance *allowance, const char *workspace_id, unsigned room);

/* For struct outbox_wish; arg: a struct allowance. */
unsigned allowance_of_line(const void *arg, const char *workspace_id, const char *line);
unsigned allowance_of_workspace(const void *arg, const char *workspace_id);
