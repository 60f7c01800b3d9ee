/* --install: copy the running program somewhere, as the init container of a pod does. */
#ifndef FDFIT_LAUNCHER_INSTALL_H
#define FDFIT_LAUNCHER_INSTALL_H

#include "base/text.h"

/** Copy the running program to dest, a file or an existing folder (then under the program's own name, fdfit),
 * with mode 0755. Written beside it, synced and renamed, so that dest is the old program or the new one,
 * never a part. Returns 0 with a line that says where it is, or a negative error with reterr; then nothing is
 * left behind. */
int install_self(const char *dest, struct text *ret_line, struct text *reterr);

#endif
