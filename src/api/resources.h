/* The handlers and the shapes of their bodies and answers, for the table of routes. One file a
 * resource. Thread: a store thread, inside the job of the request; those of routes without a store
 * on the control loop. */
#pragma once

#include "api/route.h"

handler_fn me_get, catalog_get, voices_list, voices_preview;
extern const struct field_table me_answer_table, catalog_answer_table, voices_query_table,
    voices_answer_table, preview_body_table;

handler_fn agents_list, agents_create, agents_get, agents_update, agents_remove, agents_rotate_key,
    agents_rotate_public_key;
extern const struct field_table agents_query_table, agent_answer_table, agents_answer_table,
    agent_key_answer_table, agent_public_key_answer_table;

struct tool;
/* For a session that may not edit: values of headers may be credentials. Inside a job. */
void tool_hide_headers(const struct request *request, struct tool *tool);
handler_fn tools_list, tools_create, tools_get, tools_update, tools_remove, tools_test;
extern const struct field_table tools_query_table, tool_answer_table, tools_answer_table,
    tool_removed_table, tool_test_body_table, tool_test_answer_table;

handler_fn documents_list, documents_create, documents_get, documents_passages, documents_file,
    documents_retry, documents_remove, search_documents;
extern const struct field_table document_body_table, document_answer_table, documents_answer_table,
    document_cards_answer_table, document_query_table, documents_query_table, search_body_table,
    search_answer_table, passages_query_table, passages_answer_table;

handler_fn calls_list, calls_create, calls_get, calls_end_one, calls_say_one, calls_runs,
    calls_events, calls_stream, embed_calls_create;
extern const struct field_table calls_query_table, calls_answer_table, call_answer_table,
    call_started_table, embed_started_table, embed_body_table, say_body_table, say_answer_table,
    call_runs_answer_table, call_events_query_table, call_events_answer_table;

handler_fn webhooks_list, webhooks_create, webhooks_get, webhooks_update, webhooks_remove,
    webhooks_test, webhooks_events, deliveries_list, deliveries_resend;
extern const struct field_table webhook_update_table, webhook_answer_table, webhooks_answer_table,
    webhook_test_answer_table, event_types_answer_table, deliveries_query_table,
    deliveries_answer_table, delivery_answer_table;

handler_fn usage_get;
extern const struct field_table usage_query_table, usage_answer_table;

handler_fn sign_in, sign_out, sessions_list, sessions_end, password_set, members_list,
    members_create, members_update, members_remove, members_link, keys_list, keys_create,
    keys_revoke;
extern const struct field_table sign_in_body_table, signed_in_table, sessions_answer_table,
    password_body_table, members_query_table, members_answer_table, member_answer_table,
    keys_query_table, keys_answer_table, key_answer_table, listed_key_table;

/* ?userId= of the lists. */
extern const struct field_table user_query_table;

handler_fn health_get, ready_get, metrics_get, openapi_get;
