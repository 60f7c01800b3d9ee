/* A root of its own for each case of a suite of src/inspect: a folder below /tmp, filled by the case. */
#ifndef FDFIT_TESTS_UNIT_FIXTURE_H
#define FDFIT_TESTS_UNIT_FIXTURE_H

#include "suite.h"

#include "inspect/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    char path[64];
    struct root root;
};

/** The path of a name of the fixture, in buffer. */
static inline const char *fixture_path(const struct fixture *f, const char *name, char buffer[512])
{
    ck_assert_int_lt(snprintf(buffer, 512, "%s%s", f->path, name), 512);
    return buffer;
}

/** Make a folder, and those above it. */
static inline void make_folder(const struct fixture *f, const char *name)
{
    char path[512];

    fixture_path(f, name, path);
    for (char *slash = path + strlen(f->path); (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        if (mkdir(path, 0755) < 0)
            ck_assert_int_eq(errno, EEXIST);
        *slash = '/';
    }
    if (mkdir(path, 0755) < 0)
        ck_assert_int_eq(errno, EEXIST);
}

static inline void make_folder_of(const struct fixture *f, const char *name)
{
    char *folder = strdup(name);

    *strrchr(folder, '/') = '\0';
    if (*folder)
        make_folder(f, folder);
    free(folder);
}

/** Write n bytes as a file, and make the folders above it. */
static inline void put(const struct fixture *f, const char *name, const char *bytes, size_t n)
{
    char path[512];
    int fd;

    make_folder_of(f, name);
    fd = open(fixture_path(f, name, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
    close(fd);
}

/** The same with a string. */
static inline void put_text(const struct fixture *f, const char *name, const char *text)
{
    put(f, name, text, strlen(text));
}

static inline void link_to(const struct fixture *f, const char *target, const char *name)
{
    char path[512];

    make_folder_of(f, name);
    ck_assert_int_eq(symlink(target, fixture_path(f, name, path)), 0);
}

static inline void setup(struct fixture *f)
{
    char reason[TEXT_LINE];
    TEXT_UNTOUCHED(why, reason);

    strcpy(f->path, "/tmp/fdfit-root-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(f->path));
    ck_assert_int_eq(root_open(f->path, &f->root, &why), 0);
    ck_assert_str_eq(reason, UNTOUCHED);
}

static inline void teardown(struct fixture *f)
{
    char command[128];

    root_close(&f->root);
    snprintf(command, sizeof(command), "rm -rf -- '%s'", f->path);
    ck_assert_int_eq(system(command), 0);
}

#endif
