/* What the helpers share. Signal sets are the kernel's own 64 bits: libc's sigset functions hide signals 32
 * to 34. */
#ifndef FDFIT_TEST_HELPER_H
#define FDFIT_TEST_HELPER_H

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIGNAL_LAST = 64, KERNEL_SET = 8, EXIT_HELPER = 99 };

static inline uint64_t signal_bit(int sig)
{
    return UINT64_C(1) << (sig - 1);
}

/** A helper that cannot do its part says so and leaves with a status that no test expects. */
static inline _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "test helper: %s: %s\n", what, strerror(errno));
    _exit(EXIT_HELPER);
}

/** Make mask (one bit a signal, signal 1 lowest) the whole blocked set of this thread. */
static inline void block_exactly(uint64_t mask)
{
    if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, KERNEL_SET) < 0)
        give_up("rt_sigprocmask");
}

/** Wait for any signal of the set; info may be NULL. Returns its number. */
static inline int await_signal(uint64_t set, siginfo_t *info)
{
    int sig;

    do
        sig = (int)syscall(SYS_rt_sigtimedwait, &set, info, NULL, KERNEL_SET);
    while (sig < 0 && errno == EINTR);
    if (sig < 0)
        give_up("rt_sigtimedwait");
    return sig;
}

/** The number that a string holds, or the end of the helper. */
static inline long to_number(const char *text)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 0);
    if (errno || end == text || *end) {
        errno = EINVAL;
        give_up(text);
    }
    return n;
}

/** The text behind "key=" when word starts with it, else NULL. */
static inline const char *value_of(const char *word, const char *key)
{
    size_t n = strlen(key);

    return strncmp(word, key, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

#endif
