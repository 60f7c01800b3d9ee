/* The TOML (toml.io, v1.0.0) of engines' configurations, as a tree whose nodes know their lines. A bad line
 * is a problem, and the rest is read: the engine itself refuses such a file. Dates with a blank inside are
 * not read. Pure but for the file. */
#ifndef FDFIT_INSPECT_TOML_H
#define FDFIT_INSPECT_TOML_H

#include "inspect/problems.h"
#include "inspect/root.h"

#include <stdbool.h>
#include <stddef.h>

enum toml_kind {
    TOML_TABLE,
    TOML_ARRAY,
    TOML_STRING,
    TOML_BOOLEAN,
    TOML_NUMBER /* or a date */
};

struct toml_node {
    char *key; /* in its table; NULL: the outermost table, or an element of an array */
    enum toml_kind kind;
    unsigned line; /* where its value begins, or its table's header */
    char *text;    /* a string without quotes and escapes; true, false, or a number as written; else NULL */
    bool defined;  /* a table that a header named */
    struct toml_node *first, *last, *next; /* what it holds, in the file's order; its sibling */
};

/** Read the n bytes. What is wrong is added to `problems` under the name `file`, the first lines of many.
 * Gives the outermost table, which the caller frees. Returns 0 or -ENOMEM. */
int toml_parse(const char *bytes, size_t n, const char *file, struct toml_node **ret,
               struct problems *problems);

/** Read a file below a root. Returns also -errno of root_read, without a problem. */
int toml_read(const struct root *root, const char *path, struct toml_node **ret, struct problems *problems);

/** Free a node and what it holds. Takes NULL. Always returns NULL. */
struct toml_node *toml_free(struct toml_node *node);

/** The node behind a list of keys that ends with NULL, from a table downwards; NULL: none. */
const struct toml_node *toml_find(const struct toml_node *table, const char *const *keys);

/** The member of a table; NULL: none, or no table. */
const struct toml_node *toml_member(const struct toml_node *table, const char *key);

#endif
