#include "policy/lock.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "policy/lock_filter.h"

#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the headers that we may be built with. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define LISTENER (SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW)

#define PROGRAM(bpf)                                                                                         \
    (struct sock_fprog)                                                                                      \
    {                                                                                                        \
        .len = sizeof(bpf) / sizeof(bpf[0]), .filter = (struct sock_filter *)(uintptr_t)(bpf)                \
    }

enum lock_mode lock_mode(const struct value *value)
{
    return value_is(value, WORD_DENY)      ? LOCK_DENY
           : value_is(value, WORD_PRETEND) ? LOCK_PRETEND
           : value_is(value, WORD_CLAMP)   ? LOCK_CLAMP
                                           : LOCK_NO;
}

static bool has_sys_admin(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data) < 0)
        return false;
    return data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
}

/* seccomp(2) takes a filter from whoever has CAP_SYS_ADMIN or no_new_privs. */
static int allow_filter(bool *ret_no_new_privs, struct text *reterr)
{
    bool set = false;

    if (!has_sys_admin() && sys_prctl(PR_GET_NO_NEW_PRIVS, 0) != 1) {
        int r = sys_prctl(PR_SET_NO_NEW_PRIVS, 1);

        if (r < 0) {
            text_join(reterr,
                      "lock needs CAP_SYS_ADMIN or no_new_privs, and neither can be had: ", err_text(-r),
                      "; set lock = no", NULL);
            return r;
        }
        set = true;
    }
    *ret_no_new_privs = set;
    return 0;
}

void lock_explain_no_new_privs(struct text *t)
{
    text_str(t, "the lock set no_new_privs, as CAP_SYS_ADMIN is missing: sudo and other setuid programs gain "
                "nothing in the workload");
}

/* The first of the sets of flags that the kernel knows; EINVAL is its answer to those that are newer than it.
 * Without SPEC_ALLOW a kernel before Linux 5.16 slows the whole workload down (speculation mitigations). */
static int load(const struct sock_fprog *program, const unsigned long *flags, size_t n, size_t *ret_used)
{
    for (size_t i = 0; i < n; i++) {
        long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags[i], program);

        if (r >= 0) {
            *ret_used = i;
            return (int)r;
        }
        if (errno != EINVAL)
            return -errno;
    }
    return -EINVAL;
}

static int explain(int error, struct text *reterr)
{
    text_join(reterr, "can't load the lock's seccomp filter: ", err_text(-error),
              error == -EINVAL   ? " (lock = clamp needs Linux 5.0)"
              : error == -EMFILE ? " (lock = clamp needs a free descriptor below the soft limit)"
                                 : "",
              "; set lock = no, or allow seccomp(2)", NULL);
    return error;
}

int lock_load(enum lock_mode mode, bool *ret_no_new_privs, struct text *reterr)
{
    static const unsigned long flags[] = {SECCOMP_FILTER_FLAG_SPEC_ALLOW, 0};
    const struct sock_fprog program = mode == LOCK_DENY ? PROGRAM(lock_deny) : PROGRAM(lock_pretend);
    bool no_new_privs;
    size_t used = 0;
    int r = allow_filter(&no_new_privs, reterr);

    if (r < 0)
        return r;
    r = load(&program, flags, sizeof(flags) / sizeof(flags[0]), &used);
    if (r < 0)
        return explain(r, reterr);
    *ret_no_new_privs = no_new_privs;
    return 0;
}

int lock_install_listener(int *ret_listener, bool *ret_no_new_privs, bool *ret_killable, struct text *reterr)
{
    static const unsigned long flags[] = {LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, LISTENER};
    const struct sock_fprog program = PROGRAM(lock_clamp);
    bool no_new_privs;
    size_t used = 0;
    int r = allow_filter(&no_new_privs, reterr);

    if (r < 0)
        return r;
    r = load(&program, flags, sizeof(flags) / sizeof(flags[0]), &used);
    if (r == -EBUSY)
        return LOCK_BUSY;
    if (r >= 0)
        r = fd_own(r); /* CLOEXEC from the kernel */
    if (r < 0)
        return explain(r, reterr);
    *ret_listener = r;
    *ret_no_new_privs = no_new_privs;
    *ret_killable = used == 0;
    return 0;
}
