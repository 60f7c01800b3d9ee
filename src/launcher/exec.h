/* Find a command and become it. */
#ifndef FDFIT_LAUNCHER_EXEC_H
#define FDFIT_LAUNCHER_EXEC_H

#include "base/text.h"

/** execve(2) the command, searched in the environment's PATH as execvp(3) does (EACCES is kept for the end
 * while the search goes on), except that a file without a '#!' line is never run through a shell. Returns
 * only on failure, a negative error: -ENOENT (not found), or any other (found, but can't be run). */
int exec_search(char *const *command, char *const *environment);

/** Write the path that exec_search would try first with success to ret_path. Returns 0 or -ENOENT, -EACCES.
 */
int exec_find(const char *name, char *const *environment, char *ret_path, size_t cap);

/** The exit status for an error of exec_search, 126 or 127 (POSIX, env: found but not to be invoked, not
 * found), with the reason as a line: it names the command and says what is wrong with it. */
int exec_explain(const char *name, int error, char *const *environment, struct text *t);

#endif
