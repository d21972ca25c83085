/* A call as a trace, where the operator has a collector (`otel.endpoint`): the root is the call, a
 * span below it each answer of the agent, and below that one for each step to its first sound
 * (model/timing.h). Names and attributes are those of OpenTelemetry's gen_ai conventions where
 * they have one; words are in none of them. Thread: the call's loop. */
#pragma once

struct live_call;
struct turn_timing;

void trace_turn(const struct live_call *call, const struct turn_timing *timing);
void trace_end(const struct live_call *call);
