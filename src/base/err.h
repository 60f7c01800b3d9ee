/* The error contract of every function in src/, stated once:
 *
 *    0           done
 *    negative    -errno: fatal for what was asked; the caller passes it on
 *    positive    a named condition that the caller has to handle; the function's header names it
 *
 * Outputs are called ret_…; a text that tells a person what went wrong goes to reterr. A failing function
 * leaves its ret_… as they were, and a succeeding one leaves reterr as it was. Library code never prints and
 * never exits: only a main does.
 */
#ifndef FDFIT_BASE_ERR_H
#define FDFIT_BASE_ERR_H

#include <errno.h>

/** The short name-free text of an errno value, as a constant string ("permission denied").
 *  Only the errors that our system calls give have a text; any other is "error". No locale, no allocation
 *  (strerror(3) of glibc has both). */
const char *err_text(int error);

#endif
