/* Writes the BPF programs of the lock as a C header, at build time: `lockgen CPU_FAMILY >lock_filter.h`.
 *
 * One program a mode knows every system call interface of the machine, because a filter that does not know
 * one either kills what uses it or lets it through. What it does not know all the same is ENOSYS. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_FILTER 512

/* The kernel takes the resource as an unsigned int: the upper half of the register does not count, and a
 * comparison with all of it would miss 7 | 1 << 32. */
#define RESOURCE_MASK UINT64_C(0xffffffff)

#define X32_PRLIMIT64 (0x40000000 | 302) /* arch/x86/entry/syscalls/syscall_64.tbl */

static const struct mode {
    const char *name;
    uint32_t action;     /* for libseccomp */
    uint32_t bpf_action; /* the same for the kernel */
} modes[] = {
    {"lock_deny", SCMP_ACT_ERRNO(EPERM), SECCOMP_RET_ERRNO | EPERM},
    {"lock_pretend", SCMP_ACT_ERRNO(0), SECCOMP_RET_ERRNO},
    {"lock_clamp", SCMP_ACT_NOTIFY, SECCOMP_RET_USER_NOTIF},
};

static const struct machine {
    const char *cpu_family; /* as meson calls it */
    uint32_t arches[3];     /* of libseccomp; 0 ends */
} machines[] = {
    {"x86_64", {SCMP_ARCH_X86_64, SCMP_ARCH_X86, SCMP_ARCH_X32}},
    {"aarch64", {SCMP_ARCH_AARCH64, SCMP_ARCH_ARM}},
};

struct program {
    struct sock_filter at[MAX_FILTER];
    size_t len;
};

static void die(const char *what, int error)
{
    fprintf(stderr, "lockgen: %s: %s\n", what, strerror(error));
    exit(1);
}

static void check(int r, const char *what)
{
    if (r < 0)
        die(what, -r);
}

static scmp_filter_ctx describe(const struct machine *machine, uint32_t action)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

    if (!ctx)
        die("seccomp_init", ENOMEM);
    check(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)), "SCMP_FLTATR_ACT_BADARCH");
    check(seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE), "seccomp_arch_remove");
    for (size_t i = 0; i < sizeof(machine->arches) / sizeof(machine->arches[0]) && machine->arches[i]; i++)
        check(seccomp_arch_add(ctx, machine->arches[i]), "seccomp_arch_add");
    check(seccomp_rule_add(ctx, action, SCMP_SYS(setrlimit), 1,
                           SCMP_A0(SCMP_CMP_MASKED_EQ, RESOURCE_MASK, RLIMIT_NOFILE)),
          "the rule for setrlimit");
    check(seccomp_rule_add(ctx, action, SCMP_SYS(prlimit64), 2,
                           SCMP_A1(SCMP_CMP_MASKED_EQ, RESOURCE_MASK, RLIMIT_NOFILE),
                           SCMP_A2(SCMP_CMP_NE, 0, 0)),
          "the rule for prlimit64");
    return ctx;
}

/* libseccomp takes a pointer of x32 for 32 bits wide, the kernel takes the whole register: with zeros in the
 * lower half it would pass as NULL, as if the limit were only read. */
static void add_x32_pointers(struct program *p, uint32_t bpf_action)
{
    const struct sock_filter prelude[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, X32_PRLIMIT64, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RLIMIT_NOFILE, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]) + sizeof(uint32_t)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, bpf_action),
    };

    memcpy(p->at, prelude, sizeof(prelude));
    p->len = sizeof(prelude) / sizeof(prelude[0]);
}

/* seccomp_export_bpf writes to a descriptor; an unlinked file is one that is never full. */
static void append_exported(struct program *p, scmp_filter_ctx ctx)
{
    FILE *file = tmpfile();
    size_t n;

    if (!file)
        die("tmpfile", errno);
    check(seccomp_export_bpf(ctx, fileno(file)), "seccomp_export_bpf");
    if (fseek(file, 0, SEEK_SET) < 0)
        die("fseek", errno);
    n = fread(p->at + p->len, sizeof(p->at[0]), MAX_FILTER - p->len, file);
    if (n == 0 || fgetc(file) != EOF)
        die("the exported program", EFBIG);
    p->len += n;
    fclose(file);
}

static void print_mode(const struct machine *machine, const struct mode *mode)
{
    scmp_filter_ctx ctx = describe(machine, mode->action);
    struct program p = {.len = 0};

    if (machine->arches[0] == SCMP_ARCH_X86_64)
        add_x32_pointers(&p, mode->bpf_action);
    append_exported(&p, ctx);
    seccomp_release(ctx);
    printf("\nstatic const struct sock_filter %s[] = {\n", mode->name);
    for (size_t i = 0; i < p.len; i++)
        printf("    {0x%02x, %u, %u, 0x%08x},\n", p.at[i].code, p.at[i].jt, p.at[i].jf, p.at[i].k);
    printf("};\n");
}

int main(int argc, char **argv)
{
    const struct machine *machine = NULL;

    for (size_t i = 0; argc == 2 && i < sizeof(machines) / sizeof(machines[0]); i++)
        if (strcmp(machines[i].cpu_family, argv[1]) == 0)
            machine = &machines[i];
    if (!machine) {
        fprintf(stderr, "usage: lockgen x86_64|aarch64\n");
        return 2;
    }
    /* What the machine that builds can do does not matter: level 5 has the notification. */
    check(seccomp_api_set(5), "seccomp_api_set");
    printf("/* Made by lockgen for %s. */\n#include <linux/filter.h>\n", machine->cpu_family);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        print_mode(machine, &modes[i]);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
