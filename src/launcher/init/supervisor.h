/* What init mode keeps while it stays. Internal to this folder. */
#ifndef FDFIT_LAUNCHER_INIT_SUPERVISOR_H
#define FDFIT_LAUNCHER_INIT_SUPERVISOR_H

#include "launcher/init/clamp.h"
#include "launcher/init/step.h"
#include "launcher/init/watch.h"
#include "launcher/launch.h"

#include <sys/types.h>

/** What the supervisor blocks, and what of that it passes on. */
#define SUPERVISOR_BLOCKED   (~SIGNALS_SYNCHRONOUS)
#define SUPERVISOR_FORWARDED (SUPERVISOR_BLOCKED & ~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP)))

struct supervisor {
    struct launch *l;
    struct init_state state;
    struct exit_map exit_map;
    struct clamp clamp; /* its listener is -1 where nothing is clamped */
    struct watch watch;
    pid_t main;
    int wait_status;   /* of the main child, once it ended */
    int signals;       /* the signalfd */
    uint64_t started;  /* milliseconds, monotonic */
    uint64_t deadline; /* the same; 0: none */
    uint64_t reaped, forwarded;
    bool done;
    bool refusal_said;
};

#endif
