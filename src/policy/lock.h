/* The lock: seccomp filters that keep a workload from changing its own nofile limit. The BPF programs are
 * made at build time (src/gen), so that nothing here needs libseccomp. seccomp(2), seccomp_unotify(2). */
#ifndef FDFIT_POLICY_LOCK_H
#define FDFIT_POLICY_LOCK_H

#include "policy/value.h"

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
 * The caller hands the listener to the supervisor before it executes the command, where CLOEXEC closes its
 * own. From this call on it must not set nofile itself: nobody would answer. */
int lock_install_listener(int *ret_listener, bool *ret_no_new_privs, bool *ret_killable, struct text *reterr);

#endif
