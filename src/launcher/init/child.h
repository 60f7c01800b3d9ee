/* The child of init mode, from the fork to its exec, and what it tells its parent about that. */
#ifndef FDFIT_LAUNCHER_INIT_CHILD_H
#define FDFIT_LAUNCHER_INIT_CHILD_H

#include "base/signals.h"
#include "launcher/launch.h"

#include <sys/types.h>

/** How fdfit was started, to be given to the child exactly. */
struct init_caller {
    uint64_t mask; /* blocked signals, the kernel's */
    /* Of SIGCHLD: where it is ignored nothing can be waited for, so fdfit changes it. */
    struct signal_action child_died;
    bool is_pid1;
    bool is_leader; /* of its session */
};

/** The descriptors of fdfit's own at the fork, all CLOEXEC. */
struct init_own {
    int signals; /* the parent's signalfd */
    int reports; /* the parent's end of the socket pair */
    int child;   /* the child's end */
};

enum child_stage { CHILD_LIMITED, CHILD_FAILED_LIMIT, CHILD_FAILED_EXEC };

/** One report, a message of the socket. */
struct child_report {
    enum child_stage stage;
    int error;                 /* of CHILD_FAILED_EXEC, as exec_search gives it */
    bool no_target;            /* of CHILD_LIMITED: no limit was asked for and none was changed */
    struct plan plan;          /* of CHILD_LIMITED; by no_target what was inherited */
    char peak[TEXT_LINE];      /* of CHILD_LIMITED: a warning about the peak file, or "" */
    char inherited[TEXT_LINE]; /* of CHILD_LIMITED: one about inherited descriptors, or "" */
    bool has_listener;         /* of CHILD_LIMITED: the clamp's listener comes with the message */
    char lock[TEXT_LINE];      /* of CHILD_LIMITED: about the lock, or "" */
    char line[TEXT_LINE];      /* of CHILD_FAILED_LIMIT: the reason, of the limit or the lock */
};

/** Receive the next report. Returns 1; 0 at the end, which the child's exec or its death is; the listener
 * that came with the report goes to *ret_listener, 3 or higher and CLOEXEC, or -1. */
int child_receive(int socket, struct child_report *ret, int *ret_listener);

/** Fork the workload. In the child: the process group and the foreground, the limit, the environment, the
 * mask and the disposition of SIGCHLD as the caller had them, then exec; what happens is reported through the
 * socket, whose end means that the command was started. Returns the child's pid or -errno. */
pid_t child_start(struct launch *l, const struct init_caller *caller, const struct init_own *own);

#endif
