/* One process: how large its descriptor table is, how many descriptors are open, and which is the highest.
 *
 * All is read below an open /proc, which may be another one than ours (a host's, mounted in a container);
 * pids are then numbers of that /proc. Nothing here needs more than reading:
 *
 *   size (FDSize)    /proc/PID/status                           no permission needed
 *   open (count)     st_size of /proc/PID/fd (Linux 6.2), else a listing     (the listing: as need)
 *   need             highest number + 1, by lseek and getdents  same user, or CAP_DAC_OVERRIDE
 *                    of one entry on /proc/PID/fd (kernel fs/proc/fd.c, proc_fd_permission)
 */
#ifndef FDFIT_MEASURE_PROCESS_H
#define FDFIT_MEASURE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_GONE   1 /* ended, or never was; under hidepid=2 or 4 another user's process looks the same */
#define PROCESS_ZOMBIE 2 /* ended and not waited for: it has no descriptors any more */
#define PROCESS_DENIED 3 /* may not be read: the highest number is not known (hidepid=1: nothing is) */

/** What one read of /proc/PID/status gives. */
struct process_status {
    uint64_t size;    /* FDSize: the size of the descriptor table, a power of two from 64 on */
    uint64_t threads; /* 0: not known (so many groups that the line was not reached) */
    pid_t parent;     /* 0: none in this pid namespace */
    bool zombie;      /* of the leader; its other threads may still run */
};

/** Read it. Returns 0 (a zombie too: ret->zombie), PROCESS_GONE, PROCESS_DENIED, or -errno. */
int process_status(int proc, pid_t pid, struct process_status *ret);

/** The number of open descriptors, and the inode number of the folder /proc/PID/fd. While that number stays
 * the same, the pid names the same process, since a folder of /proc dies with its process; another number
 * says nothing (the kernel may have dropped its cache). With tid 0 the table of the process's leader, else
 * that of its thread tid. Where the size of the folder is 0 (before Linux 6.2, or with nothing open) it is
 * listed.
 *  Returns 0, PROCESS_GONE, PROCESS_DENIED (that listing is refused; only ret_inode is given), or -errno. */
int process_open_count(int proc, pid_t pid, pid_t tid, uint64_t *ret_count, uint64_t *ret_inode);

/** The highest descriptor's number + 1, 0 when none is open; found in about log2(size) steps, in one step for
 * a table without gaps. size and count are first guesses (FDSize, process_open_count), and may be 0 or
 * outdated; when no number of count or above is open, the result is count. So with an arbitrary count this
 * asks, in one step, whether the need is above it. With tid 0 the table of the process's leader, else that of
 * its thread tid. Returns 0, PROCESS_GONE, PROCESS_DENIED, or -errno. */
int process_need(int proc, pid_t pid, pid_t tid, uint64_t size, uint64_t count, uint64_t *ret_need);

/** When the process started, in clock ticks since boot: with the pid, its identity (proc_pid_stat(5)).
 *  Returns 0, PROCESS_GONE, PROCESS_DENIED, or -errno. */
int process_start(int proc, pid_t pid, uint64_t *ret_ticks);

/** The soft limit from /proc/PID/limits, UINT64_MAX for unlimited; unlike prlimit(2) this needs no privilege.
 *  Returns 0, PROCESS_GONE, PROCESS_DENIED, or -errno. */
int process_soft(int proc, pid_t pid, uint64_t *ret_soft);

#define PROCESS_COMM 16
#define PROCESS_ARGV 64

/** What a process calls itself: any bytes but NUL, not escaped. */
struct process_name {
    char comm[PROCESS_COMM];  /* /proc/PID/comm, cut by the kernel to 15 bytes */
    char argv0[PROCESS_ARGV]; /* the first of /proc/PID/cmdline, cut to 63 bytes; "" when there is none */
};

/** Read the names. Returns 0, PROCESS_GONE, PROCESS_DENIED, or -errno. */
int process_name(int proc, pid_t pid, struct process_name *ret);

/** A bash that runs a script keeps that script open on the highest free number below both 256 and its soft
 * limit: 255 under nearly every limit (bash, general.c, move_to_high_fd). The number moves down with the
 * limit, so it is not a need. True when `need` - 1 is such a descriptor, and then *ret_need is what the rest
 * of the process needs. All of this must hold:
 *
 *   - the number is 255, or soft - 1 under a soft limit below 256;
 *   - it stands alone: no number from its half on is open;
 *   - the program is bash: /proc/PID/exe leads to a file of that name, and the descriptor is a regular file
 *     that is closed on exec, as bash opens scripts. Where these may not be read (they need ptrace access,
 *     which a supervisor without the capabilities of its workload has not): argv[0] or comm is "bash", and
 *     the descriptor is open for reading only. */
bool process_is_script_slot(int proc, pid_t pid, uint64_t need, uint64_t *ret_need);

/** The largest over the process's descriptor tables. There is one for all threads, unless a thread has called
 * unshare(CLONE_FILES). */
struct process_tables {
    uint64_t size; /* the largest FDSize */
    uint64_t open; /* the largest count */
    uint64_t need; /* the highest number + 1; only when exact */
    bool exact;   /* need is what is open now; else the highest number was refused, and only size bounds it */
    bool several; /* a thread has a table of its own */
};

/** Measure one process in full, over all its tables. A script slot is left out of need.
 *  Returns 0 (see ret->exact), PROCESS_GONE, PROCESS_ZOMBIE, PROCESS_DENIED (nothing is known), or -errno. */
int process_measure(int proc, pid_t pid, struct process_tables *ret);

/** The same from a status that was just read, and with script slots. Without threads_too only the leader's
 * table is looked at. */
int process_measure_tables(int proc, pid_t pid, const struct process_status *status, bool threads_too,
                           struct process_tables *ret);

#endif
