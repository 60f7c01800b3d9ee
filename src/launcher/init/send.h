/* Sending signals to the workload. */
#ifndef FDFIT_LAUNCHER_INIT_SEND_H
#define FDFIT_LAUNCHER_INIT_SEND_H

#include "launcher/init/supervisor.h"

#include <sys/signalfd.h>

/** Send a signal to whom `signal-to` names. info is what fdfit itself got (its value goes on), or NULL.
 *  A refusal is said once; a process that is gone is nothing special. */
void send_to_workload(struct supervisor *s, int signal, const struct signalfd_siginfo *info);

/** Send a signal to every descendant of fdfit. */
void send_to_rest(struct supervisor *s, int signal);

#endif
