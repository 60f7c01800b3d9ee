/* nofile-ask CALL SOFT HARD: make one system call about nofile, raw, and say what it gave and what the limit
 * is then: "ret=0 errno=0 old=- now=1024:4096". CALL is a row of the table below. Built for 32 bits too. */
#include "../helper.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define X32 0x40000000L

struct limit64 {
    uint64_t soft, hard;
};

struct answer {
    long ret;
    int error;
    struct limit64 old;
};

static const struct limit64 no_old = {1, 0}; /* never a limit: soft is above hard */

static struct answer ended(long ret)
{
    return (struct answer){.ret = ret < 0 ? -1 : ret, .error = ret < 0 ? errno : 0, .old = no_old};
}

/* Two words as the native struct rlimit has them. */
static struct answer setrlimit_raw(long number, unsigned long resource, struct limit64 want)
{
    unsigned long native[2] = {(unsigned long)want.soft, (unsigned long)want.hard};

    return ended(syscall(number, resource, native));
}

static struct answer prlimit_raw(long number, long pid, unsigned long resource, const struct limit64 *want)
{
    struct limit64 old = no_old;
    struct answer a = ended(syscall(number, pid, resource, want, &old));

    a.old = old;
    return a;
}

static struct answer by_setrlimit(struct limit64 want)
{
    return setrlimit_raw(SYS_setrlimit, RLIMIT_NOFILE, want);
}

static struct answer by_prlimit(struct limit64 want)
{
    return prlimit_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, &want);
}

static struct answer by_own_pid(struct limit64 want)
{
    return prlimit_raw(SYS_prlimit64, getpid(), RLIMIT_NOFILE, &want);
}

static struct answer by_parent_pid(struct limit64 want)
{
    return prlimit_raw(SYS_prlimit64, getppid(), RLIMIT_NOFILE, &want);
}

static struct answer by_missing_struct(struct limit64 want)
{
    (void)want;
    return ended(syscall(SYS_setrlimit, RLIMIT_NOFILE, 16));
}

static struct answer by_bad_old(struct limit64 want)
{
    return ended(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &want, 16));
}

static struct answer by_core(struct limit64 want)
{
    return prlimit_raw(SYS_prlimit64, 0, RLIMIT_CORE, &want);
}

static struct answer by_core_setrlimit(struct limit64 want)
{
    return setrlimit_raw(SYS_setrlimit, RLIMIT_CORE, want);
}

static struct answer by_read(struct limit64 want)
{
    (void)want;
    return prlimit_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL);
}

struct in_thread {
    struct limit64 want;
    bool own_tid;
    struct answer answer;
};

static void *ask_in_thread(void *data)
{
    struct in_thread *t = data;

    t->answer = prlimit_raw(SYS_prlimit64, t->own_tid ? syscall(SYS_gettid) : 0, RLIMIT_NOFILE, &t->want);
    return NULL;
}

static struct answer from_thread(struct limit64 want, bool own_tid)
{
    struct in_thread t = {.want = want, .own_tid = own_tid};
    pthread_t thread;

    if (pthread_create(&thread, NULL, ask_in_thread, &t) != 0 || pthread_join(thread, NULL) != 0)
        give_up("a thread");
    return t.answer;
}

static struct answer by_thread(struct limit64 want)
{
    return from_thread(want, false);
}

static struct answer by_thread_id(struct limit64 want)
{
    return from_thread(want, true);
}

#if __SIZEOF_LONG__ == 8
static struct answer by_wide_resource(struct limit64 want)
{
    return prlimit_raw(SYS_prlimit64, 0, RLIMIT_NOFILE | 1UL << 32, &want);
}

static struct answer by_wide_resource_setrlimit(struct limit64 want)
{
    return setrlimit_raw(SYS_setrlimit, RLIMIT_NOFILE | 1UL << 32, want);
}

static void *mapped(unsigned long at, int flags)
{
    void *page = mmap((void *)at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

    if (page == MAP_FAILED)
        give_up("mmap");
    return page;
}
#endif

#ifdef __x86_64__
static struct answer by_x32_setrlimit(struct limit64 want)
{
    return setrlimit_raw(X32 | 160, RLIMIT_NOFILE, want);
}

static struct answer by_x32_prlimit(struct limit64 want)
{
    return prlimit_raw(X32 | 302, 0, RLIMIT_NOFILE, &want);
}

/* A struct whose address has zeros in its lower half. */
static struct answer by_x32_high(struct limit64 want)
{
    struct limit64 *page = mapped(0x1000000000, MAP_FIXED_NOREPLACE);

    *page = want;
    return prlimit_raw(X32 | 302, 0, RLIMIT_NOFILE, page);
}

static struct answer by_high(struct limit64 want)
{
    struct limit64 *page = mapped(0x1000000000, MAP_FIXED_NOREPLACE);

    *page = want;
    return prlimit_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, page);
}

static struct answer by_x32_read(struct limit64 want)
{
    (void)want;
    return prlimit_raw(X32 | 302, 0, RLIMIT_NOFILE, NULL);
}

static long int80(long number, long a, long b, long c, long d)
{
    long ret;

    __asm__ volatile("int $0x80"
                     : "=a"(ret)
                     : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d)
                     : "memory", "r8", "r9", "r10", "r11");
    if (ret < 0) {
        errno = (int)-ret;
        return -1;
    }
    return ret;
}

static struct answer by_int80_setrlimit(struct limit64 want)
{
    uint32_t *narrow = mapped(0, MAP_32BIT);

    narrow[0] = (uint32_t)want.soft;
    narrow[1] = (uint32_t)want.hard;
    return ended(int80(75, RLIMIT_NOFILE, (long)narrow, 0, 0));
}

static struct answer by_int80_prlimit(struct limit64 want)
{
    struct limit64 *page = mapped(0, MAP_32BIT);
    struct answer a;

    page[0] = want;
    page[1] = no_old;
    a = ended(int80(340, 0, RLIMIT_NOFILE, (long)&page[0], (long)&page[1]));
    a.old = page[1];
    return a;
}

static struct answer by_int80_read(struct limit64 want)
{
    struct limit64 *page = mapped(0, MAP_32BIT);
    struct answer a;

    (void)want;
    page[1] = no_old;
    a = ended(int80(340, 0, RLIMIT_NOFILE, 0, (long)&page[1]));
    a.old = page[1];
    return a;
}
#endif

static const struct {
    const char *name;
    struct answer (*ask)(struct limit64 want);
} calls[] = {
    {"setrlimit", by_setrlimit},
    {"prlimit", by_prlimit},
    {"own-pid", by_own_pid},
    {"parent-pid", by_parent_pid},
    {"thread", by_thread},
    {"thread-id", by_thread_id},
    {"missing-struct", by_missing_struct},
    {"bad-old", by_bad_old},
    {"core", by_core},
    {"core-setrlimit", by_core_setrlimit},
    {"read", by_read},
#if __SIZEOF_LONG__ == 8
    {"wide-resource", by_wide_resource},
    {"wide-resource-setrlimit", by_wide_resource_setrlimit},
#endif
#ifdef __x86_64__
    {"high", by_high},
    {"x32-setrlimit", by_x32_setrlimit},
    {"x32-prlimit", by_x32_prlimit},
    {"x32-high", by_x32_high},
    {"x32-read", by_x32_read},
    {"int80-setrlimit", by_int80_setrlimit},
    {"int80-prlimit", by_int80_prlimit},
    {"int80-read", by_int80_read},
#endif
};

static uint64_t limit_of(const char *text)
{
    return strcmp(text, "unlimited") == 0 ? UINT64_MAX : (uint64_t)to_number(text);
}

static void print_pair(const char *name, struct limit64 pair)
{
    if (pair.soft == no_old.soft && pair.hard == no_old.hard)
        printf(" %s=-", name);
    else
        printf(" %s=%llu:%llu", name, (unsigned long long)pair.soft, (unsigned long long)pair.hard);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
            puts(calls[i].name);
        return 0;
    }
    for (size_t i = 0; argc == 4 && i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct answer a;
        struct limit64 now;

        if (strcmp(argv[1], calls[i].name) != 0)
            continue;
        a = calls[i].ask((struct limit64){limit_of(argv[2]), limit_of(argv[3])});
        if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &now) < 0)
            give_up("reading the limit");
        printf("ret=%ld errno=%d", a.ret, a.error);
        print_pair("old", a.old);
        print_pair("now", now);
        puts("");
        return 0;
    }
    errno = EINVAL;
    give_up("usage: nofile-ask CALL SOFT HARD, or nofile-ask list");
}
