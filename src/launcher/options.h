/* The command line and the environment -> settings, by the key table. */
#ifndef FDFIT_LAUNCHER_OPTIONS_H
#define FDFIT_LAUNCHER_OPTIONS_H

#include "policy/settings.h"

/** Read the options up to the command: "--" ends them, and so does the first argument that is none.
 *  Sets *ret_command to the index of the command in argv (argc when there is none).
 *  Returns 0, or -EINVAL with reterr. */
int options_parse(int argc, char *const *argv, struct settings *settings, int *ret_command,
                  struct text *reterr);

/** Read the FDFIT_* variables that are keys, and take each out of the environment, which is changed in place.
 *  Others are left: Kubernetes makes FDFIT_PORT for a Service of that name. Where one stands twice the first
 * counts, as in getenv(3). Returns 0, or -EINVAL with reterr. */
int options_environment(char **environment, struct settings *settings, struct text *reterr);

/** Append the names of the FDFIT_* variables in the environment, separated by blanks. */
void options_foreign(char *const *environment, struct text *t);

/** Append the text of --help. */
void options_help(struct text *t);

#endif
