/* The supervisor's side of lock = clamp: the workload's calls that set nofile arrive at a listener
 * (seccomp_unotify(2)); the supervisor sets the lesser of what was asked and the ceiling itself, and answers.
 * The call is never let go on: the caller's other threads could change the struct after it was looked at. */
#ifndef FDFIT_LAUNCHER_INIT_CLAMP_H
#define FDFIT_LAUNCHER_INIT_CLAMP_H

#include "base/sys.h"
#include "base/text.h"
#include "launcher/init/caps.h"

#include <stdbool.h>

#define CLAMP_NAME  16 /* a process's name with its NUL (TASK_COMM_LEN) */
#define CLAMP_NAMES 64 /* as many programs are reported; the others are only counted */

enum clamp_kind {
    CLAMP_NOTHING,    /* nothing to report */
    CLAMP_KEPT,       /* less was set than was asked */
    CLAMP_FOREIGN,    /* refused: the limit of another process */
    CLAMP_UNREADABLE, /* refused: the memory of the process can't be read */
    CLAMP_NOT_OURS    /* refused: the supervisor may not set the limit of that process */
};

/** Something that is said once a program. */
struct clamp_report {
    enum clamp_kind kind;
    char name[CLAMP_NAME]; /* as the process chose it */
    pid_t pid;             /* the process, in the supervisor's pid namespace */
    struct nofile asked;   /* of CLAMP_KEPT */
    struct nofile kept;    /* of CLAMP_KEPT */
};

struct clamp {
    struct nofile ceiling;
    int listener;      /* owned; -1 after it ended */
    int proc;          /* owned: /proc, or -1 */
    bool may_take_ids; /* PID 1: the workload's signals do not end it */
    int death_signal;  /* of prctl(2), lost at each change of ids */
    uint64_t set;      /* calls whose limit was set as asked */
    uint64_t cut;      /* set to less */
    uint64_t refused;
    unsigned seen; /* used entries below */
    struct {
        enum clamp_kind kind;
        char name[CLAMP_NAME];
    } reported[CLAMP_NAMES];
};

#define CLAMP_IMPOSSIBLE 1

/** Look whether this process could be the supervisor: /proc is that of its own pid namespace, and the
 * kernel's notification has a size that is known here. To be asked before the workload is started. Returns 0,
 * or CLAMP_IMPOSSIBLE with ret_why; the workload then needs LOCK_DENY. */
int clamp_possible(struct text *ret_why);

/** Begin with a listener of lock_install_listener(), which is owned from now on, and the pair that nothing
 * may pass. Opens /proc, so it comes after the child's exec, and before caps_drop(). Never fails: without
 * /proc every call is refused. */
void clamp_init(struct clamp *c, int listener, const struct nofile *ceiling);

/** Close what clamp_init opened. The calls of processes that still wait, or come later, give ENOSYS. */
void clamp_deinit(struct clamp *c);

#define CLAMP_ENDED 1

/** Take one call from the listener, which poll(2) must have said to have POLLIN or POLLHUP (`revents`), and
 * answer it. A process that was killed meanwhile is nothing special. *ret_report is set; its kind is
 * CLAMP_NOTHING unless a person should read clamp_report_format() of it. Returns 0, or CLAMP_ENDED when no
 * process is left that could call: the listener is closed, poll it no more. */
int clamp_serve(struct clamp *c, short revents, struct clamp_report *ret_report);

/** Append "java (pid 12) asked for nofile 1048576, kept 1024"; the pairs where only hard differs. */
void clamp_report_format(const struct clamp_report *report, struct text *t);

#endif
