/* Init mode: start the workload as a child and stay, as PID 1 or as a subreaper. */
#ifndef FDFIT_LAUNCHER_INIT_SUPERVISE_H
#define FDFIT_LAUNCHER_INIT_SUPERVISE_H

#include "launcher/init/child.h"
#include "launcher/init/step.h"

/** Start the workload and supervise it to its end. `mask` is what was blocked when fdfit was started.
 *  Returns 0 with how fdfit itself is to end, or a negative error with reterr, when the workload was not
 * started; after the start nothing that fails here ends the supervisor.  *ret_end is set to EXIT_NOT_FOUND or
 *  EXIT_NOT_EXECUTABLE when the command could not be run, and that was said. */
int supervise(struct launch *l, uint64_t mask, struct init_end *ret_end, struct text *reterr);

/** End this process by a signal, without a core: its parent sees what the workload's would have seen. Returns
 * only where the signal did not end it. */
void end_by_signal(int signal);

#endif
