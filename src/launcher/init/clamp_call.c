#include "launcher/init/clamp_call.h"

#include "base/err.h"
#include "base/num.h"

#include <linux/audit.h>
#include <string.h>
#include <sys/resource.h>

/* The calls of arch/.../syscall*.tbl, by AUDIT_ARCH and number. The two of x32 carry bit 30 under the arch of
 * x86-64, and their structs are those of x86-64. */
static const struct row {
    uint32_t arch;
    int nr;
    bool sets_other; /* prlimit64: pid, resource, new, old; else setrlimit: resource, new */
    unsigned char size;
} rows[] = {
    {AUDIT_ARCH_X86_64, 302, true, 16},
    {AUDIT_ARCH_X86_64, 160, false, 16},
    {AUDIT_ARCH_X86_64, 0x40000000 | 302, true, 16},
    {AUDIT_ARCH_X86_64, 0x40000000 | 160, false, 16},
    {AUDIT_ARCH_I386, 340, true, 16},
    {AUDIT_ARCH_I386, 75, false, 8},
    {AUDIT_ARCH_AARCH64, 261, true, 16},
    {AUDIT_ARCH_AARCH64, 164, false, 16},
    {AUDIT_ARCH_ARM, 369, true, 16},
    {AUDIT_ARCH_ARM, 75, false, 8},
};

int clamp_decode(const struct seccomp_data *data, struct clamp_call *ret)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].arch != data->arch || rows[i].nr != data->nr)
            continue;
        if ((uint32_t)data->args[rows[i].sets_other ? 1 : 0] != RLIMIT_NOFILE)
            return -ENOSYS;
        *ret = (struct clamp_call){.size = rows[i].size};
        ret->pid = rows[i].sets_other ? (pid_t)data->args[0] : 0;
        ret->new_at = data->args[rows[i].sets_other ? 2 : 1];
        ret->old_at = rows[i].sets_other ? data->args[3] : 0;
        return 0;
    }
    return -ENOSYS;
}

static uint64_t widen(uint32_t limit)
{
    return limit == UINT32_MAX ? UINT64_MAX : limit;
}

struct nofile clamp_asked(const unsigned char *bytes, unsigned char size)
{
    uint32_t narrow[2];
    struct nofile asked;

    if (size == sizeof(asked)) {
        memcpy(&asked, bytes, sizeof(asked));
        return asked;
    }
    memcpy(narrow, bytes, sizeof(narrow));
    return (struct nofile){.soft = widen(narrow[0]), .hard = widen(narrow[1])};
}

struct clamp_decision clamp_decide(const struct nofile *asked, const struct nofile *current,
                                   const struct nofile *ceiling)
{
    struct clamp_decision d = {.error = -EINVAL, .old = *current};

    if (asked->soft > asked->hard)
        return d;
    d.set.soft = num_min(asked->soft, ceiling->soft);
    d.set.hard = num_min(asked->hard, ceiling->hard);
    d.cut = d.set.soft != asked->soft || d.set.hard != asked->hard;
    d.error = d.set.hard > current->hard ? -EPERM : 0;
    return d;
}

/* The numbers of one line: the first and the last. */
struct numbers {
    uint64_t first, last;
    unsigned count;
};

static int parse_numbers(const char *s, const char *end, struct numbers *ret)
{
    struct numbers numbers = {.count = 0};

    while (s < end) {
        size_t n = 0;

        while (s < end && (*s == ' ' || *s == '\t'))
            s++;
        while (s + n < end && s[n] != ' ' && s[n] != '\t')
            n++;
        if (n == 0)
            break;
        if (num_parse(s, n, &numbers.last) < 0 || numbers.last > UINT32_MAX)
            return -EINVAL;
        numbers.count++;
        if (numbers.count == 1)
            numbers.first = numbers.last;
        s += n;
    }
    *ret = numbers;
    return numbers.count > 0 ? 0 : -EINVAL;
}

/* The numbers behind "key:" at the beginning of a line. */
static int find_numbers(const char *bytes, size_t n, const char *key, struct numbers *ret)
{
    const char *end = bytes + n;
    size_t len = strlen(key);

    while (bytes < end) {
        const char *eol = memchr(bytes, '\n', (size_t)(end - bytes));

        if (!eol)
            eol = end;
        if ((size_t)(eol - bytes) > len && memcmp(bytes, key, len) == 0 && bytes[len] == ':')
            return parse_numbers(bytes + len + 1, eol, ret);
        bytes = eol + 1;
    }
    return -EINVAL;
}

int clamp_parse_status(const char *bytes, size_t n, struct clamp_status *ret)
{
    struct numbers tgids, tids, uids, gids;

    if (find_numbers(bytes, n, "NStgid", &tgids) < 0 || find_numbers(bytes, n, "NSpid", &tids) < 0 ||
        find_numbers(bytes, n, "Uid", &uids) < 0 || find_numbers(bytes, n, "Gid", &gids) < 0)
        return -EINVAL;
    *ret = (struct clamp_status){
        .tgid = (pid_t)tgids.first,
        .own_tgid = (pid_t)tgids.last,
        .own_tid = (pid_t)tids.last,
        .nested = tids.count > 1,
        .uid = (uid_t)uids.first,
        .gid = (gid_t)gids.first,
    };
    return 0;
}
