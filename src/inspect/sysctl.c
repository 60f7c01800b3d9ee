#include "inspect/sysctl.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "inspect/lines.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct row {
    const char *name, *path; /* below /proc/sys */
    uint64_t least, most;    /* what the kernel takes: fs/file_table.c, kernel/sysctl.c */
} rows[] = {
    [SYSCTL_NR_OPEN] = {"fs.nr_open", "fs/nr_open", 64, 2147483584},
    [SYSCTL_FILE_MAX] = {"fs.file-max", "fs/file-max", 0, INT64_MAX},
};

/* Where a name of a drop-in counts before the same name further down. */
static const char *const folders[] = {"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d",
                                      "/usr/lib/sysctl.d", "/lib/sysctl.d"};
static const char old_file[] = "/etc/sysctl.conf";

struct reader {
    const char *file;
    unsigned line;
    const struct row *row;
    struct sysctl *ret;
    struct problems *problems;
    size_t told;
};

const char *sysctl_text(enum sysctl_name name)
{
    return rows[name].name;
}

static char *strip(char *s)
{
    static const char blanks[] = " \t\n\r";
    size_t n;

    s += strspn(s, blanks);
    for (n = strlen(s); n > 0 && strchr(blanks, s[n - 1]); n--)
        s[n - 1] = '\0';
    return s;
}

/* A name with dots between its parts becomes one with slashes, and the other way round for the rest: which of
 * the two stands first tells which it is. */
static void normalize(char *name)
{
    char *first = strpbrk(name, "/.");

    if (!first || *first == '/')
        return;
    for (; *name; name++)
        if (*name == '.')
            *name = '/';
        else if (*name == '/')
            *name = '.';
}

/* A number as the kernel takes it: decimal, 0x or 0 before it (kernel/sysctl.c, proc_get_long). */
static const char *read_value(const struct row *row, const char *text, uint64_t *ret)
{
    static const char refused[] = "the kernel refuses it: no number that it takes";
    char *end;

    if (*text < '0' || *text > '9')
        return refused;
    errno = 0;
    *ret = strtoull(text, &end, 0);
    if (errno != 0 || *end || *ret < row->least || *ret > row->most)
        return refused;
    return NULL;
}

static bool is_pattern(const char *name)
{
    return strpbrk(name, "*?[");
}

static int add(struct reader *r, bool pattern, const char *value)
{
    struct assignment a = {.file = r->file, .line = r->line, .text = value};

    a.problem = read_value(r->row, value, &a.limit.soft);
    a.limit.hard = a.limit.soft;
    if (a.problem) {
        a.state = ASSIGNMENT_BAD;
    } else if (pattern && r->ret->named) {
        a.state = ASSIGNMENT_OVERRIDDEN;
        a.problem = "a pattern does not change what has its own line";
    } else {
        assignments_override(&r->ret->files);
    }
    r->ret->named = r->ret->named || !pattern;
    return assignments_add(&r->ret->files, &a);
}

static int complain(struct reader *r, const char *line)
{
    int wanted = problems_want_line(r->problems, r->file, r->line, &r->told);

    if (wanted <= 0)
        return wanted;
    return problems_add_quoted(r->problems, r->file, r->line, "", line, " is no assignment (NAME = VALUE)");
}

/* "-NAME" alone takes back what is set so far, and keeps patterns off it; "-NAME = VALUE" is an assignment
 * whose failure is not told. */
static int take_assignment(struct reader *r, char *line)
{
    char *value = strchr(line, '='), *name;
    bool minus = *line == '-', pattern;

    if (!value && !minus)
        return complain(r, line);
    if (value)
        *value++ = '\0';
    name = strip(line + minus);
    pattern = is_pattern(name);
    normalize(name);
    if (fnmatch(name, r->row->path, FNM_PATHNAME) != 0)
        return 0;
    if (value)
        return add(r, pattern, strip(value));
    if (!pattern) {
        assignments_override(&r->ret->files);
        r->ret->named = true;
    }
    return 0;
}

static int take_line(char *line, unsigned number, void *data)
{
    struct reader *r = data;

    r->line = number;
    line = strip(line);
    return *line && *line != '#' && *line != ';' ? take_assignment(r, line) : 0;
}

int sysctl_take(const char *bytes, size_t n, const char *file, enum sysctl_name name, struct sysctl *ret,
                struct problems *problems)
{
    struct reader reader = {.file = file, .row = &rows[name], .ret = ret, .problems = problems};

    return lines_each(bytes, n, take_line, &reader);
}

static bool is_same_file(const struct root *root, const char *a, const char *b)
{
    int fd_a = root_open_path(root, a, O_RDONLY), fd_b = root_open_path(root, b, O_RDONLY);
    struct stat of_a, of_b;
    bool same = fd_a >= 0 && fd_b >= 0 && fstat(fd_a, &of_a) == 0 && fstat(fd_b, &of_b) == 0 &&
                of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;

    fd_close(fd_a);
    fd_close(fd_b);
    return same;
}

static int take_file(const struct root *root, const char *path, enum sysctl_name name, struct sysctl *ret,
                     struct problems *problems)
{
    char *bytes;
    size_t n;
    int r = root_read(root, path, &bytes, &n);

    if (r == 0) {
        r = sysctl_take(bytes, n, path, name, ret, problems);
        free(bytes);
        return r;
    }
    /* A mask is a link to /dev/null, which is no regular file, or not there below a root that was mounted. */
    if (r == -ENOMEM)
        return r;
    return r == -EINVAL || r == -ENOENT ? 0 : problems_add_unread(problems, path, r);
}

/* The drop-ins of all folders, sorted by their names, one of each name. */
struct drop_ins {
    char **path;
    size_t count;
};

static void drop_ins_deinit(struct drop_ins *list)
{
    root_names_free(list->path, list->count);
    *list = (struct drop_ins){0};
}

static const char *name_of(const char *path)
{
    return strrchr(path, '/') + 1;
}

static int add_drop_in(struct drop_ins *list, const char *folder, const char *name)
{
    size_t n = strlen(name), at = 0;
    char **larger;

    /* systemd reads no hidden file. */
    if (name[0] == '.' || n < 5 || strcmp(name + n - 5, ".conf") != 0)
        return 0;
    while (at < list->count && strcmp(name_of(list->path[at]), name) < 0)
        at++;
    if (at < list->count && strcmp(name_of(list->path[at]), name) == 0)
        return 0;
    larger = realloc(list->path, (list->count + 1) * sizeof(*larger));
    if (!larger)
        return -ENOMEM;
    list->path = larger;
    memmove(larger + at + 1, larger + at, (list->count - at) * sizeof(*larger));
    if (asprintf(&larger[at], "%s/%s", folder, name) < 0) {
        memmove(larger + at, larger + at + 1, (list->count - at) * sizeof(*larger));
        return -ENOMEM;
    }
    list->count++;
    return 0;
}

static int find_drop_ins(const struct root *root, struct drop_ins *list, struct problems *problems)
{
    int r = 0;

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && r == 0; i++) {
        char **names;
        size_t count;

        r = root_names(root, folders[i], &names, &count);
        if (r < 0) {
            r = problems_add_unless_missing(problems, folders[i], r);
            continue;
        }
        for (size_t j = 0; j < count && r == 0; j++)
            r = add_drop_in(list, folders[i], names[j]);
        root_names_free(names, count);
    }
    return r;
}

static bool has_systemd(const struct root *root)
{
    static const char *const programs[] = {"/usr/lib/systemd/systemd-sysctl", "/lib/systemd/systemd-sysctl"};
    int fd = root_open_path(root, programs[0], O_RDONLY);

    if (fd < 0)
        fd = root_open_path(root, programs[1], O_RDONLY);
    fd_close(fd);
    return fd >= 0;
}

/* /etc/sysctl.conf, which `sysctl --system` reads, and systemd-sysctl does not. */
static int take_old_file(const struct root *root, enum sysctl_name name, struct sysctl *ret,
                         struct problems *problems)
{
    struct sysctl own = {0};
    int r;

    if (!has_systemd(root))
        return take_file(root, old_file, name, ret, problems);
    r = take_file(root, old_file, name, &own, problems);
    for (size_t i = 0; i < own.files.count && r == 0; i++) {
        struct assignment add = own.files.at[i];

        if (add.state != ASSIGNMENT_BAD) {
            add.state = ASSIGNMENT_OVERRIDDEN;
            add.problem = "systemd-sysctl does not read this file at boot, `sysctl --system` does";
        }
        r = assignments_add(&ret->files, &add);
    }
    assignments_deinit(&own.files);
    return r;
}

static int read_files(const struct root *root, enum sysctl_name name, struct sysctl *ret,
                      struct problems *problems)
{
    struct drop_ins list = {0};
    bool linked = false;
    int r = find_drop_ins(root, &list, problems);

    for (size_t i = 0; i < list.count && r == 0; i++) {
        linked = linked || is_same_file(root, list.path[i], old_file);
        r = take_file(root, list.path[i], name, ret, problems);
    }
    if (r == 0 && !linked)
        r = take_old_file(root, name, ret, problems);
    drop_ins_deinit(&list);
    return r;
}

static int read_current(const struct root *root, const struct row *row, struct sysctl *ret,
                        struct problems *problems)
{
    char path[64], buffer[32];
    size_t n;
    int r;

    if (root->proc < 0)
        return 0;
    snprintf(path, sizeof(path), "sys/%s", row->path);
    r = fd_read_file(root->proc, path, buffer, sizeof(buffer), &n);
    if (r == 0) {
        while (n > 0 && (buffer[n - 1] == '\n' || buffer[n - 1] == ' '))
            n--;
        ret->known = num_parse(buffer, n, &ret->current) == 0;
        return 0;
    }
    snprintf(path, sizeof(path), "/proc/sys/%s", row->path);
    return r == -ENOENT ? 0 : problems_add_unread(problems, path, r);
}

int sysctl_read(const struct root *root, enum sysctl_name name, struct sysctl *ret, struct problems *problems)
{
    struct sysctl sysctl = {0};
    int r = read_current(root, &rows[name], &sysctl, problems);

    if (r == 0)
        r = read_files(root, name, &sysctl, problems);
    if (r < 0)
        sysctl_deinit(&sysctl);
    else
        *ret = sysctl;
    return r;
}

void sysctl_deinit(struct sysctl *sysctl)
{
    assignments_deinit(&sysctl->files);
    *sysctl = (struct sysctl){0};
}
