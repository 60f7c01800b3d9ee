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

/** The same, but a file or folder that is not there (-ENOENT, -ENOTDIR) is none, and -ENOMEM is passed on.
 * For what need not be there. Returns 0 or -ENOMEM. */
int problems_add_unless_missing(struct problems *list, const char *file, int error);

/** Append `before`, a word of the file's between quotes, `behind`. Returns 0 or -ENOMEM. */
int problems_add_quoted(struct problems *list, const char *file, unsigned line, const char *before,
                        const char *word, const char *behind);

/** Whether one more line of a file is to be told: of many the first 20 are, and then that more follow. *told
 * counts them, from 0 for a file. Returns 1 (yes), 0 (no; for the first time that is told) or -ENOMEM. */
int problems_want_line(struct problems *list, const char *file, unsigned line, size_t *told);

/** Free all, and leave an empty list. */
void problems_deinit(struct problems *list);

#endif
