/* One process of a node, by its /proc: who it is, and under which limit it runs. Pids are numbers of that
 * /proc. */
#ifndef FDFIT_INSPECT_PROC_H
#define FDFIT_INSPECT_PROC_H

#include "base/sys.h"
#include "inspect/root.h"
#include "measure/process.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** No more is kept of /proc/PID/cmdline. */
#define PROC_CMDLINE 4096

/** A process. Owns its strings; every byte of comm, exe and cmdline was chosen by somebody else. */
struct proc {
    pid_t pid;
    pid_t parent;   /* 0: none that this /proc shows */
    pid_t inner;    /* its pid in its own pid namespace (NSpid of proc_pid_status(5)); 0: not known */
    unsigned depth; /* of that namespace below the one of this /proc: 0 is the same */
    uid_t uid;      /* the effective one */
    bool zombie;
    uint64_t start; /* clock ticks since boot: with the pid, its identity */
    char comm[PROCESS_COMM];
    char
        *exe; /* where /proc/PID/exe leads, without " (deleted)"; NULL: may not be read, or a kernel thread */
    char *cmdline; /* the arguments, each ended by a NUL; "" where there are none */
    size_t cmdline_n;
    struct nofile limit; /* of /proc/PID/limits, UINT64_MAX is unlimited; only if has_limit */
    bool has_limit;      /* false: a zombie, which has none, or it may not be read */
};

/** Read a process. What ends while it is read is gone as a whole: nothing of it is given. Returns 0,
 *  PROCESS_GONE, PROCESS_DENIED (hidepid), -ENOMEM, or another -errno. */
int proc_read(const struct root *root, pid_t pid, struct proc *ret);

/** Free its strings, and leave them NULL. */
void proc_deinit(struct proc *proc);

/** The file name of the program: the last part of exe, else of the first argument, else comm. Borrowed. */
const char *proc_program(const struct proc *proc);

/** Read an argument by its number, from 0; NULL: there are fewer. Borrowed. */
const char *proc_argument(const struct proc *proc, size_t number);

/** The limit in the n bytes of a /proc/PID/limits. Pure. Returns 0 or -EBADMSG (no such line). */
int proc_limits_parse(const char *bytes, size_t n, struct nofile *ret);

/** Read a file of /proc/PID whole into malloc'ed memory, cut to cap bytes and ended by a NUL that does not
 * count. Returns 0, PROCESS_GONE, PROCESS_DENIED or -errno. */
int proc_read_file(const struct root *root, pid_t pid, const char *file, size_t cap, char **ret_bytes,
                   size_t *ret_n);

/** Where a link of /proc/PID leads (exe, cwd, root), as a malloc'ed path. Returns as proc_read_file. */
int proc_read_link(const struct root *root, pid_t pid, const char *file, char **ret);

#endif
