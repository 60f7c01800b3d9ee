/* The lock: seccomp filters that keep a workload from changing its own nofile limit. The BPF programs are
 * made at build time (src/gen), so that nothing here needs libseccomp. seccomp(2), seccomp_unotify(2). */
#ifndef FDFIT_POLICY_LOCK_H
#define FDFIT_POLICY_LOCK_H

#include "policy/value.h"

#include <sys/types.h>

enum lock_mode {
    LOCK_NO,
    LOCK_DENY,    /* setting nofile is refused with EPERM */
    LOCK_PRETEND, /* setting nofile returns 0 and changes nothing (an old limit that was asked for is not
                     written) */
    LOCK_CLAMP    /* setting nofile asks the supervisor, see launcher/init/clamp.h */
};

/** The mode that the key `lock` names. */
enum lock_mode lock_mode(const struct value *value);

/** Load the filter of LOCK_DENY or LOCK_PRETEND in the calling process, which must have one thread. It is for
 * good, also for what the process executes and forks; so set the limit first. Without CAP_SYS_ADMIN the
 * kernel wants no_new_privs: it is then set, and *ret_no_new_privs is true (false when it was set before, or
 * is not needed). Returns 0, or a negative error with reterr. */
int lock_load(enum lock_mode mode, bool *ret_no_new_privs, struct text *reterr);

/** Append what no_new_privs means for the workload. */
void lock_explain_no_new_privs(struct text *t);

#define LOCK_BUSY 1 /* a filter with a listener is in force already: load LOCK_DENY, and say so */

/** Load the filter of LOCK_CLAMP in the calling process; as lock_load, but *ret_listener is the descriptor (3
 * or higher, CLOEXEC) by which the supervisor hears of each call. It needs a free number below the caller's
 * soft limit. *ret_killable is false before Linux 5.19: a signal then makes a waiting call start again, and
 * one with a fast SA_RESTART timer may never finish. Returns 0, LOCK_BUSY, or a negative error with reterr.
 *
 * How the listener reaches the supervisor:
 *
 *   1. the supervisor opens only what the child needs (the pipe for its failure), and calls lock_fork();
 *   2. the child, in the shared table, sets the limit, calls lock_install_listener(), writes the number to
 * the pipe, and executes the command. exec gives it a table of its own, where CLOEXEC closes the listener;
 *   3. the supervisor goes on when the child has executed or ended; the number is open in its table. It opens
 *      what it needs itself only now: the child's closes (inherited-fds = close) hit the same table.
 *
 * Between 2 and 3 the child makes no call that the filter asks about: nobody would answer. */
int lock_install_listener(int *ret_listener, bool *ret_no_new_privs, bool *ret_killable, struct text *reterr);

/** fork(2), but with one table of descriptors until the child executes or ends, and the caller stopped until
 * then (clone(2) with CLONE_FILES and CLONE_VFORK). Memory is copied as by fork. Returns 0 in the child, its
 * pid in the caller, or -errno. */
pid_t lock_fork(void);

#endif
