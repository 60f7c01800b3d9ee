/* A limit that a file sets, with its place: every value that src/inspect finds in a configuration is one of
 * these. */
#ifndef FDFIT_INSPECT_ASSIGNMENT_H
#define FDFIT_INSPECT_ASSIGNMENT_H

#include "base/sys.h"

#include <stdbool.h>
#include <stddef.h>

enum assignment_state {
    ASSIGNMENT_IN_FORCE,
    ASSIGNMENT_OVERRIDDEN, /* a later one counts */
    ASSIGNMENT_BAD         /* refused by its reader: `problem` says why */
};

struct assignment {
    const char *file; /* below the root: "/etc/systemd/system/x.service" */
    unsigned line;    /* from 1; 0: the file as a whole */
    const char *text; /* the value as it stands there */
    struct nofile limit;
    enum assignment_state state;
    const char *problem; /* or NULL */
};

/** A list that owns its strings. */
struct assignments {
    struct assignment *at; /* in the order in which they take effect: of those in force the last one counts */
    size_t count;
};

/** Append one; the strings are copied (problem may be NULL). Returns 0 or -ENOMEM. */
int assignments_add(struct assignments *list, const struct assignment *add);

/** Mark all that are in force as overridden: what follows replaces them. */
void assignments_override(struct assignments *list);

/** The one that counts: the last in force; NULL: none. */
const struct assignment *assignments_last(const struct assignments *list);

/** Free all, and leave an empty list. */
void assignments_deinit(struct assignments *list);

#endif
