/* The lines of a file that is read line by line. */
#ifndef FDFIT_INSPECT_LINES_H
#define FDFIT_INSPECT_LINES_H

#include <stddef.h>

/** Takes one line, without its end, in a copy that it may change; lines count from 1. Returns 0, a positive
 * value that ends the reading, or a negative error. */
typedef int lines_take(char *line, unsigned number, void *data);

/** Call take for each line of n bytes. A NUL ends what is taken of its line. Returns 0, -ENOMEM or the
 * negative error of take. */
int lines_each(const char *bytes, size_t n, lines_take *take, void *data);

#endif
