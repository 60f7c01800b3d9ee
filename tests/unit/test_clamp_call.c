#include "suite.h"

#include "base/err.h"
#include "launcher/init/clamp_call.h"

#include <linux/audit.h>

#define UNLIMITED UINT64_MAX

static struct clamp_decision decide(uint64_t soft, uint64_t hard, struct nofile current,
                                    struct nofile ceiling)
{
    const struct nofile asked = {soft, hard};

    return clamp_decide(&asked, &current, &ceiling);
}

static const struct nofile policy = {1024, 4096};

START_TEST(what_is_below_the_ceiling_is_set_as_asked)
{
    struct clamp_decision d = decide(512, 2048, policy, policy);

    ck_assert_int_eq(d.error, 0);
    ck_assert_uint_eq(d.set.soft, 512);
    ck_assert_uint_eq(d.set.hard, 2048);
    ck_assert(!d.cut);
    d = decide(1024, 4096, policy, policy);
    ck_assert_int_eq(d.error, 0);
    ck_assert(!d.cut);
}
END_TEST

START_TEST(what_is_above_is_cut_soft_and_hard_apart)
{
    static const struct {
        struct nofile asked, set;
    } rows[] = {
        {{1025, 4096}, {1024, 4096}},           {{4096, 4096}, {1024, 4096}}, {{512, 4097}, {512, 4096}},
        {{UNLIMITED, UNLIMITED}, {1024, 4096}}, {{0, UNLIMITED}, {0, 4096}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct clamp_decision d = decide(rows[i].asked.soft, rows[i].asked.hard, policy, policy);

        ck_assert_int_eq(d.error, 0);
        ck_assert_uint_eq(d.set.soft, rows[i].set.soft);
        ck_assert_uint_eq(d.set.hard, rows[i].set.hard);
        ck_assert(d.cut);
    }
}
END_TEST

START_TEST(soft_above_hard_is_invalid_even_where_the_ceiling_would_mend_it)
{
    ck_assert_int_eq(decide(512, 511, policy, policy).error, -EINVAL);
    ck_assert_int_eq(decide(UNLIMITED, 4096, policy, policy).error, -EINVAL);
}
END_TEST

START_TEST(a_hard_limit_that_was_lowered_is_not_raised_again)
{
    const struct nofile lowered = {512, 2048};

    ck_assert_int_eq(decide(512, 4096, lowered, policy).error, -EPERM);
    ck_assert_int_eq(decide(512, UNLIMITED, lowered, policy).error, -EPERM);
    ck_assert_int_eq(decide(1024, 2048, lowered, policy).error, 0);
    ck_assert_uint_eq(decide(1024, 2048, lowered, policy).old.hard, 2048);
}
END_TEST

/* Whatever is asked, nothing passes the ceiling or the present hard limit, and soft stays below hard. */
START_TEST(nothing_ever_passes_the_ceiling)
{
    static const uint64_t values[] = {0, 1023, 1024, 1025, 4096, 4097, UNLIMITED - 1, UNLIMITED};
    const size_t n = COUNT(values);

    for (size_t i = 0; i < n * n * n * n * n; i++) {
        struct nofile ceiling = {values[i % n], values[i / n % n]};
        struct nofile current = {0, values[i / n / n % n]};
        struct clamp_decision d =
            decide(values[i / n / n / n % n], values[i / n / n / n / n], current, ceiling);

        if (ceiling.soft > ceiling.hard || d.error != 0)
            continue;
        ck_assert_uint_le(d.set.soft, ceiling.soft);
        ck_assert_uint_le(d.set.hard, ceiling.hard);
        ck_assert_uint_le(d.set.hard, current.hard);
        ck_assert_uint_le(d.set.soft, d.set.hard);
    }
}
END_TEST

static struct seccomp_data registers(uint32_t arch, int nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return (struct seccomp_data){.nr = nr, .arch = arch, .args = {a, b, c, d}};
}

START_TEST(each_interface_is_decoded)
{
    static const struct {
        uint32_t arch;
        int prlimit, setrlimit;
        unsigned char size; /* of setrlimit's struct */
    } rows[] = {
        {AUDIT_ARCH_X86_64, 302, 160, 16}, {AUDIT_ARCH_X86_64, 0x40000000 | 302, 0x40000000 | 160, 16},
        {AUDIT_ARCH_I386, 340, 75, 8},     {AUDIT_ARCH_AARCH64, 261, 164, 16},
        {AUDIT_ARCH_ARM, 369, 75, 8},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct seccomp_data data = registers(rows[i].arch, rows[i].prlimit, 12, 7, 0x1000, 0x2000);
        struct clamp_call call;

        ck_assert_int_eq(clamp_decode(&data, &call), 0);
        ck_assert_int_eq(call.pid, 12);
        ck_assert_uint_eq(call.new_at, 0x1000);
        ck_assert_uint_eq(call.old_at, 0x2000);
        ck_assert_uint_eq(call.size, 16);
        data = registers(rows[i].arch, rows[i].setrlimit, 7, 0x1000, 0x2000, 0x3000);
        ck_assert_int_eq(clamp_decode(&data, &call), 0);
        ck_assert_int_eq(call.pid, 0);
        ck_assert_uint_eq(call.new_at, 0x1000);
        ck_assert_uint_eq(call.old_at, 0);
        ck_assert_uint_eq(call.size, rows[i].size);
    }
}
END_TEST

START_TEST(upper_halves_of_resource_and_pid_do_not_count)
{
    struct seccomp_data data =
        registers(AUDIT_ARCH_X86_64, 302, UINT64_C(5) << 32, 7 | UINT64_C(1) << 32, 1, 0);
    struct clamp_call call;

    ck_assert_int_eq(clamp_decode(&data, &call), 0);
    ck_assert_int_eq(call.pid, 0);
}
END_TEST

START_TEST(other_calls_are_not_known)
{
    struct seccomp_data getpid_call = registers(AUDIT_ARCH_X86_64, 39, 0, 7, 1, 0);
    struct seccomp_data core = registers(AUDIT_ARCH_X86_64, 302, 0, 4, 1, 0);
    struct seccomp_data number_of_another = registers(AUDIT_ARCH_AARCH64, 302, 0, 7, 1, 0);
    struct clamp_call call;

    ck_assert_int_eq(clamp_decode(&getpid_call, &call), -ENOSYS);
    ck_assert_int_eq(clamp_decode(&core, &call), -ENOSYS);
    ck_assert_int_eq(clamp_decode(&number_of_another, &call), -ENOSYS);
}
END_TEST

START_TEST(structs_of_32_bits_are_widened)
{
    const uint32_t narrow[] = {1024, UINT32_MAX};
    const uint64_t wide[] = {UINT32_MAX, UNLIMITED};
    struct nofile asked = clamp_asked((const unsigned char *)narrow, sizeof(narrow));

    ck_assert_uint_eq(asked.soft, 1024);
    ck_assert_uint_eq(asked.hard, UNLIMITED);
    asked = clamp_asked((const unsigned char *)wide, sizeof(wide));
    ck_assert_uint_eq(asked.soft, UINT32_MAX);
    ck_assert_uint_eq(asked.hard, UNLIMITED);
}
END_TEST

static int parse(const char *text, struct clamp_status *ret)
{
    return clamp_parse_status(text, strlen(text), ret);
}

START_TEST(status_of_a_thread)
{
    struct clamp_status s;

    ck_assert_int_eq(parse("Name:\tC2 Compiler\nTgid:\t12\nPid:\t15\nUid:\t1000\t1001\t1002\t1003\n"
                           "Gid:\t100\t101\t102\t103\nGroups:\t1 2 3 \nNStgid:\t12\nNSpid:\t15\n",
                           &s),
                     0);
    ck_assert_int_eq(s.tgid, 12);
    ck_assert_int_eq(s.own_tgid, 12);
    ck_assert_int_eq(s.own_tid, 15);
    ck_assert_uint_eq(s.uid, 1000);
    ck_assert_uint_eq(s.gid, 100);
    ck_assert(!s.nested);
}
END_TEST

START_TEST(status_in_a_nested_namespace)
{
    struct clamp_status s;

    ck_assert_int_eq(
        parse("Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nNStgid:\t812\t40\t1\nNSpid:\t813\t41\t2\n", &s), 0);
    ck_assert_int_eq(s.tgid, 812);
    ck_assert_int_eq(s.own_tgid, 1);
    ck_assert_int_eq(s.own_tid, 2);
    ck_assert(s.nested);
}
END_TEST

START_TEST(status_that_is_torn_or_forged)
{
    static const char *const bad[] = {
        "",
        "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nNStgid:\t8\n",             /* cut off before NSpid */
        "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nNStgid:\t8\nNSpid:\t\n",   /* no number */
        "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nNStgid:\t8\nNSpid:\t-8\n", /* not a number */
        "Name:\tNSpid:\t1\nUid:\t0\nGid:\t0\nNStgid:\t8\n",             /* a name that looks like a line */
    };
    struct clamp_status s = {.tgid = 77};

    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_int_eq(parse(bad[i], &s), -EINVAL);
    ck_assert_int_eq(s.tgid, 77);
}
END_TEST

SUITE("clamp_call", what_is_below_the_ceiling_is_set_as_asked, what_is_above_is_cut_soft_and_hard_apart,
      soft_above_hard_is_invalid_even_where_the_ceiling_would_mend_it,
      a_hard_limit_that_was_lowered_is_not_raised_again, nothing_ever_passes_the_ceiling,
      each_interface_is_decoded, upper_halves_of_resource_and_pid_do_not_count, other_calls_are_not_known,
      structs_of_32_bits_are_widened, status_of_a_thread, status_in_a_nested_namespace,
      status_that_is_torn_or_forged)
