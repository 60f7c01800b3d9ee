/* What stood in the way of reading something, or is wrong in it: lines for people, with their place. Reading
 * goes on behind a problem, so that the rest is shown too. */
#ifndef FDFIT_INSPECT_PROBLEMS_H
#define FDFIT_INSPECT_PROBLEMS_H

#include "base/text.h"

#include <stddef.h>

struct problem {
    char *file;    /* below the root */
    unsigned line; /* from 1; 0: the file as a whole */
    char *text;    /* one line, escaped where it holds bytes of the file */
};

/** A list that owns its strings. */
struct problems {
    struct problem *at;
    size_t count;
};

/** Append one; the strings are copied. Returns 0 or -ENOMEM. */
int problems_add(struct problems *list, const char *file, unsigned line, const char *text);

/** Append that a file or folder could not be read: `error` is -errno. Returns 0 or -ENOMEM. */
int problems_add_unread(struct problems *list, const char *file, int error);

/** Free all, and leave an empty list. */
void problems_deinit(struct problems *list);

#endif
