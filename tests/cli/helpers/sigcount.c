/* sigcount [LAST]: block every signal, say "ready PID", then print "NUMBER SI_CODE VALUE" for each that
 * arrives, in the order of arrival. After signal LAST it leaves with 0; without LAST it lives until it is
 * killed. */
#include "helper.h"

#include <sys/prctl.h>

int main(int argc, char **argv)
{
    int last = argc > 1 ? (int)to_number(argv[1]) : 0;
    siginfo_t info;
    int sig;

    /* It cannot be ended by TERM: so it must not outlive a launcher that failed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    block_exactly(~UINT64_C(0));
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready %d\n", getpid());
    do {
        sig = await_signal(~UINT64_C(0), &info);
        printf("%d %d %d\n", sig, info.si_code, info.si_value.sival_int);
    } while (sig != last);
    return 0;
}
