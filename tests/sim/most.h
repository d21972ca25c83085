/* Bodies in which every field holds the most that its row lets it, made from the field tables, so
 * that a new field is in every test of sizes. */
#pragma once

struct arena;
struct field_table;
struct js;

/* unit: the text that texts are made of, one code point: "\xF0\x9F\x8E\xA7" is the longest,
 * "\x01" the one that grows most in JSON. Names, addresses and what the catalog decides are what
 * their rows give as an example, padded where that may be. */
struct js *most_body(const struct field_table *table, const char *unit);
/* The same read into an object; every fault fails the test. */
void most_fill(const struct field_table *table, void *object, const char *unit,
               struct arena *arena);
