/* The supervisor's decisions, pure: what happened -> what to do. The whole behaviour of init mode is this
 * function; the loop around it only turns system calls into events and actions into system calls. */
#ifndef FDFIT_LAUNCHER_INIT_STEP_H
#define FDFIT_LAUNCHER_INIT_STEP_H

#include "policy/maps.h"

enum init_event_kind {
    INIT_SIGNAL,    /* fdfit got a signal */
    INIT_STOPPED,   /* the main child was stopped, by e->signal */
    INIT_CONTINUED, /* the main child goes on */
    INIT_ENDED,     /* the main child ended and is reaped */
    INIT_ALONE,     /* no child is left */
    INIT_TIME,      /* the deadline that an action set is over */
    INIT_QUIET      /* nothing else has come; wanted while s->stop is set */
};

struct init_event {
    enum init_event_kind kind;
    int signal;
    bool from_kernel; /* a terminal's: the kernel sent it (si_code SI_KERNEL) */
    bool shared;      /* the main child is in fdfit's own process group */
};

/** What to do, in this order. */
enum init_what {
    INIT_FORWARD = 1,    /* send a.signal to the workload (signal-to) */
    INIT_KILL = 2,       /* grace is over: send KILL to the workload, and say so */
    INIT_TERM_REST = 4,  /* send TERM to every descendant that is left */
    INIT_KILL_REST = 8,  /* send KILL to them, and say so the first time */
    INIT_DEADLINE = 16,  /* INIT_TIME in a.after milliseconds, unless a new deadline comes first */
    INIT_STOP_SELF = 32, /* stop as the main child did, by a.signal, until CONT */
    INIT_EXIT = 64       /* leave with the main child's status */
};

struct init_actions {
    unsigned what;
    int signal;
    uint64_t after;
};

struct init_state {
    /* set by the caller */
    bool is_pid1;
    bool is_leader; /* of its session: no shell watches its stops */
    bool wait_all;
    uint64_t grace; /* milliseconds; 0: never */
    struct signal_map rewrite;
    /* begin as zero */
    bool stopped;  /* the main child is */
    int stop;      /* fdfit is to stop as well, by this signal, unless a CONT has come since; 0: it is not */
    bool mirrored; /* fdfit stopped with it and has not yet handled the CONT that resumed it */
    bool grace_runs;
    bool last;   /* the main child ended, the others are being ended */
    bool killed; /* they were sent KILL */
};

struct init_actions init_step(struct init_state *s, const struct init_event *e);

/** How fdfit ends: by a signal of its own, or with a status. */
struct init_end {
    bool by_signal;
    int value; /* the signal or the status */
};

/** Turn the wait status of the main child into fdfit's own end: the exit map first (death by signal N stands
 * at 128 + N); then the exit status; then for a death by signal the same signal, or as PID 1, which no signal
 * of its own ends (signal(7), pid_namespaces(7)), 128 + N. */
struct init_end init_end(int wait_status, const struct exit_map *map, bool is_pid1);

#endif
