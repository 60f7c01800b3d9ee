/*
 * A program that does nothing: no libc, no start-up code, one system call. What it costs to start it is what
 * the kernel takes for fork, exec and exit, so it is the floor that the start-up bench compares every prefix
 * with, and the command that the victim executes when it is given none.
 */
#include <asm/unistd.h>

/* The name is the linker's entry symbol (ld -e), which is why it is not in the project's style. */
__attribute__((noreturn, used)) void _start(void);

void _start(void)
{
#if defined(__x86_64__)
    __asm__ volatile("syscall" : : "a"(__NR_exit_group), "D"(0L) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long number __asm__("x8") = __NR_exit_group;
    register long status __asm__("x0") = 0;
    __asm__ volatile("svc 0" : : "r"(number), "r"(status) : "memory");
#else
#error "noop.c: no exit_group for this processor yet; add its system call instruction here"
#endif
    __builtin_unreachable();
}
