/* Starting the child of init mode, from the supervisor's side. */
#ifndef FDFIT_LAUNCHER_INIT_START_H
#define FDFIT_LAUNCHER_INIT_START_H

#include "launcher/init/child.h"
#include "launcher/init/supervisor.h"

/** Open what the supervisor needs and fork the child: s->main, s->signals and *ret_own are set.
 *  Returns 0, or a negative error with reterr; then nothing was started. */
int start_child(struct supervisor *s, const struct init_caller *caller, struct init_own *ret_own,
                struct text *reterr);

/** Close what the workload inherited, or it would stay open here and a pipe's reader would never see its end.
 * Of the first three descriptors only stderr is needed, for messages. */
void start_close_inherited(const struct init_own *own);

/** Read the child's reports to the end of the socket, which its exec closes, and say what they say.
 *  *ret_listener is the lock's, to
 *  be closed by the caller, or -1. Returns 0 when the command runs, or the exit code of fdfit when it does
 * not. */
int start_wait(struct launch *l, int socket, int *ret_listener);

#endif
