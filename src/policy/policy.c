#include "policy/policy.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* One "key = value" line, trimmed, of n bytes; line[n] may be overwritten. */
struct line {
    char *at;
    size_t n;
    unsigned number;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void trim(char **at, size_t *n)
{
    while (*n > 0 && is_blank(**at)) {
        (*at)++;
        (*n)--;
    }
    while (*n > 0 && is_blank((*at)[*n - 1]))
        (*n)--;
}

/* Take a comment, the CR of a CRLF and the outer blanks off. A '#' begins a comment at the start of the line
 * or after a blank, so that a path may hold one. */
static void strip(struct line *line)
{
    if (line->n > 0 && line->at[line->n - 1] == '\r')
        line->n--;
    for (size_t i = 0; i < line->n; i++)
        if (line->at[i] == '#' && (i == 0 || is_blank(line->at[i - 1])))
            line->n = i;
    trim(&line->at, &line->n);
}

static int fail(const struct line *line, const char *name, struct text *reterr)
{
    text_join(reterr, name, ":", NULL);
    text_u64(reterr, line->number);
    text_str(reterr, ": ");
    return -EINVAL;
}

static int fail_with(const struct line *line, const char *name, const char *reason, struct text *reterr)
{
    fail(line, name, reterr);
    text_str(reterr, reason);
    return -EINVAL;
}

static int put_line(const struct line *line, enum key_id id, char *value, const char *name,
                    struct settings *settings, struct text *reterr)
{
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);

    if (settings_put(settings, id, value, (struct origin){ORIGIN_FILE, line->number}, &why) < 0) {
        fail(line, name, reterr);
        text_join(reterr, key_row(id)->name, ": ", why.at, NULL);
        return -EINVAL;
    }
    return 0;
}

/* Look the key up; one that stands twice is refused: which of the two was meant is a guess. */
static int take_key(const struct line *line, const char *key, size_t key_len, const char *name,
                    unsigned *seen, enum key_id *ret, struct text *reterr)
{
    enum key_id id = key_find(key, key_len, IN_FILE);

    if (id == KEY_COUNT) {
        fail(line, name, reterr);
        key_unknown("key", "", key, key_len, IN_FILE, reterr);
        return -EINVAL;
    }
    if (seen[id] != 0) {
        fail(line, name, reterr);
        text_join(reterr, key_row(id)->name, " stands twice; first on line ", NULL);
        text_u64(reterr, seen[id]);
        return -EINVAL;
    }
    seen[id] = line->number;
    *ret = id;
    return 0;
}

static int parse_line(struct line *line, const char *name, struct settings *settings, unsigned *seen,
                      struct text *reterr)
{
    char *equals, *key, *value;
    size_t key_len, value_len;
    enum key_id id;
    int r;

    if (memchr(line->at, '\0', line->n))
        return fail_with(line, name, "a NUL byte", reterr);
    if (line->n > POLICY_MAX_LINE)
        return fail_with(line, name, "the line is longer than 4096 bytes", reterr);
    strip(line);
    if (line->n == 0)
        return 0;
    key = line->at;
    equals = memchr(line->at, '=', line->n);
    if (!equals)
        return fail_with(line, name, "no '=' in the line; write key = value", reterr);
    key_len = (size_t)(equals - key);
    value = equals + 1;
    value_len = line->n - key_len - 1;
    trim(&key, &key_len);
    trim(&value, &value_len);
    value[value_len] = '\0';
    r = take_key(line, key, key_len, name, seen, &id, reterr);
    return r < 0 ? r : put_line(line, id, value, name, settings, reterr);
}

int policy_parse(char *buffer, size_t n, const char *name, struct settings *settings, struct text *reterr)
{
    unsigned seen[KEY_COUNT] = {0};
    struct line line = {.at = buffer, .n = 0, .number = 0};

    for (size_t at = 0; at < n;) {
        char *end = memchr(buffer + at, '\n', n - at);
        size_t length = end ? (size_t)(end - buffer) - at : n - at;
        int r;

        line = (struct line){.at = buffer + at, .n = length, .number = line.number + 1};
        at += length + 1;
        r = parse_line(&line, name, settings, seen, reterr);
        if (r < 0)
            return r;
    }
    return 0;
}

static int refuse(const char *path, int error, const char *why, struct text *reterr)
{
    text_join(reterr, "policy ", path, ": ", why, NULL);
    return error;
}

/* Who may decide what root runs: root, or the one who starts the program. */
static int check_file(int fd, const char *path, struct text *reterr)
{
    struct stat st;
    int r = sys_stat(fd, "", AT_EMPTY_PATH, &st);

    if (r < 0)
        return refuse(path, r, err_text(-r), reterr);
    if (!S_ISREG(st.st_mode))
        return refuse(path, -EINVAL, "is not a regular file", reterr);
    if (st.st_uid != 0 && st.st_uid != geteuid()) {
        refuse(path, -EPERM, "belongs to user ", reterr);
        text_u64(reterr, st.st_uid);
        text_str(reterr, ", not to root or the caller; chown it");
        return -EPERM;
    }
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return refuse(path, -EPERM, "is writable by others than its owner; chmod go-w it", reterr);
    return 0;
}

int policy_read(const char *path, char *buffer, size_t *ret_len, struct text *reterr)
{
    /* O_NONBLOCK: opening a FIFO must not wait for a writer; check_file then refuses it. */
    int fd = fd_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    int r;

    if (fd < 0)
        return refuse(path, fd, err_text(-fd), reterr);
    r = check_file(fd, path, reterr);
    if (r == 0) {
        r = fd_read_all(fd, buffer, POLICY_MAX_BYTES, ret_len);
        if (r < 0)
            refuse(path, r, r == -EFBIG ? "is longer than 64 KiB" : err_text(-r), reterr);
    }
    fd_close(fd);
    return r;
}

int policy_path(const char *what, char *ret_path, size_t cap, struct text *reterr)
{
    bool is_path = strchr(what, '/') != NULL;
    struct text path;

    if (what[0] == '\0') {
        text_str(reterr, "policy: the name is empty");
        return -EINVAL;
    }
    if (strlen(what) + sizeof("/etc/fdfit/.conf") > cap) {
        text_str(reterr, "policy: the name is too long");
        return -ENAMETOOLONG;
    }
    text_init(&path, ret_path, cap);
    text_join(&path, is_path ? "" : "/etc/fdfit/", what, is_path ? "" : ".conf", NULL);
    return 0;
}
