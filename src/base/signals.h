/* Signals as the kernel numbers and masks them. libc's sets hide 32 and 33 (glibc) or 32 to 34 (musl), so a
 * launcher that used them would die of signal 32: masks here are the kernel's, one bit for each of 1 to 64
 * (rt_sigprocmask(2)). */
#ifndef FDFIT_BASE_SIGNALS_H
#define FDFIT_BASE_SIGNALS_H

#include "base/text.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SIGNAL_MAX         64 /* the last one, of every architecture but MIPS */
#define SIGNAL_BIT(signal) (UINT64_C(1) << ((signal)-1))

/** What the kernel raises for a fault of the process itself: never blocked, or the fault would kill without a
 * trace. */
#define SIGNALS_SYNCHRONOUS                                                                                  \
    (SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGFPE) |                    \
     SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSYS))

/** Set the thread's mask, and give the old one unless ret_old is NULL. Returns 0 or -errno. */
int signals_set_mask(uint64_t mask, uint64_t *ret_old);

/** What is done at a signal, as rt_sigaction(2) of the kernel has it; all 0 is SIG_DFL. */
struct signal_action {
    uintptr_t handler;     /* SIG_DFL, SIG_IGN, or what somebody else set */
    unsigned long rest[4]; /* flags, restorer and mask, in the architecture's order */
};

/** Set what is done at a signal, and give what was done before unless ret_old is NULL. Returns 0 or -errno.
 */
int signals_set_action(int signal, const struct signal_action *set, struct signal_action *ret_old);

/** signalfd4(2) for a mask, CLOEXEC and non-blocking. Returns a descriptor of 3 or higher, or -errno. */
int signals_open(uint64_t mask);

/** rt_sigqueueinfo(2): send a signal with the value and the sender of one that came by sigqueue(3).
 *  Returns 0 or -errno. */
int signals_queue(pid_t pid, int signal, pid_t sender, uid_t uid, union sigval value);

/** Read a signal: a name with or without SIG, in capitals, RTMIN+N or RTMAX-N as the shells count them (from
 * 34 to 64), or a number from 1 to 64. Returns it, or -EINVAL. */
int signals_parse(const char *s, size_t n);

/** Append a signal's name without SIG ("TERM", "RTMIN+2"), or its number where it has none. */
void signals_format(int signal, struct text *t);

#endif
