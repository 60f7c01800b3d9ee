#include "inspect/engine.h"

#include "base/err.h"
#include "base/fd.h"
#include "inspect/engine_read.h"
#include "inspect/ulimit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *engine_file(const struct engine_read *e, const char *const *names, const char *fallback)
{
    const char *file = fallback;

    for (size_t nth = 0; engine_words_option(e->words, names, nth, &file); nth++)
        ;
    return file;
}

int engine_add(const struct engine_read *e, const char *file, unsigned line, const char *text,
               const struct nofile *limit)
{
    assignments_override(e->ret);
    return assignments_add(e->ret,
                           &(struct assignment){.file = file, .line = line, .text = text, .limit = *limit});
}

int engine_add_ulimit(const struct engine_read *e, const char *engine, const char *file, unsigned line,
                      const char *text)
{
    struct assignment bad = {.file = file, .line = line, .text = text, .state = ASSIGNMENT_BAD};
    char buffer[TEXT_LINE];
    TEXT_ON(why, buffer);
    struct nofile limit;
    int r = ulimit_parse(text, &limit, &why);

    if (r == ULIMIT_OTHER)
        return 0;
    if (r == 0)
        return engine_add(e, file, line, text, &limit);
    text_join(&why, ": ", engine, " refuses it", NULL);
    bad.problem = buffer;
    r = assignments_add(e->ret, &bad);
    return r < 0 ? r : problems_add(e->problems, file, line, buffer);
}

int engine_toml(const struct engine_read *e, const char *path, struct toml_node **ret)
{
    int r = toml_read(e->root, path, ret, e->problems);

    if (r == 0)
        return 0;
    *ret = NULL;
    return problems_add_unless_missing(e->problems, path, r);
}

char *engine_join(const char *folder, const char *name)
{
    char *path;

    return asprintf(&path, "%s%s%s", folder, *folder && folder[strlen(folder) - 1] == '/' ? "" : "/", name) <
                   0
               ? NULL
               : path;
}

static bool is_there(const struct root *root, const char *path, int flags)
{
    int fd = root_open_path(root, path, O_RDONLY | flags);

    fd_close(fd);
    return fd >= 0;
}

static int take_one(const struct engine_read *e, const char *folder, const char *name, engine_take *take,
                    void *data)
{
    char *path = engine_join(folder, name);
    int r = 0;

    if (!path)
        return -ENOMEM;
    if (!is_there(e->root, path, O_DIRECTORY))
        r = take(e, path, data);
    free(path);
    return r;
}

int engine_each(const struct engine_read *e, const char *folder, const char *suffix, engine_take *take,
                void *data)
{
    char **names;
    size_t count;
    int r = root_names(e->root, folder, &names, &count);

    if (r < 0)
        return problems_add_unless_missing(e->problems, folder, r);
    for (size_t i = 0; i < count && r == 0; i++) {
        size_t n = strlen(names[i]), end = strlen(suffix);

        if (n >= end && strcmp(names[i] + n - end, suffix) == 0)
            r = take_one(e, folder, names[i], take, data);
    }
    root_names_free(names, count);
    return r;
}

static int read_k3s(const struct engine_read *e)
{
    /* docs.k3s.io, "Advanced Options", and docs.rke2.io: each writes its own. */
    static const char *const files[] = {"/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
                                        "/var/lib/rancher/rke2/agent/etc/containerd/config.toml"};

    return engine_containerd(e, files[!is_there(e->root, files[0], 0) && is_there(e->root, files[1], 0)]);
}

static int read_containerd(const struct engine_read *e)
{
    static const char *const options[] = {"--config", "-config", "-c", NULL};

    return engine_containerd(e, engine_file(e, options, "/etc/containerd/config.toml"));
}

static int read_kind(const struct engine_read *e, enum engine_kind kind, const char *home)
{
    switch (kind) {
    case ENGINE_DOCKER: return engine_docker(e);
    case ENGINE_CONTAINERD: return read_containerd(e);
    case ENGINE_K3S: return read_k3s(e);
    case ENGINE_CRIO: return engine_crio(e);
    case ENGINE_PODMAN: return engine_podman(e, home);
    }
    return 0;
}

/* The files of variables that the units of Debian, Fedora and Amazon Linux name. */
static const char *const *environment_of(enum engine_kind kind)
{
    static const char *const docker[] = {"/etc/default/docker", "/etc/sysconfig/docker", NULL};
    static const char *const crio[] = {"/etc/default/crio", "/etc/sysconfig/crio", NULL};
    static const char *const none[] = {NULL};

    return kind == ENGINE_DOCKER ? docker : kind == ENGINE_CRIO ? crio : none;
}

/* What the engine sets takes the place of what the caller has so far. One that sets nothing leaves it. */
static int append(struct assignments *ret, const struct assignments *own)
{
    int r = 0;

    if (assignments_last(own))
        assignments_override(ret);
    for (size_t i = 0; i < own->count && r == 0; i++)
        r = assignments_add(ret, &own->at[i]);
    return r;
}

int engine_read_limits(const struct root *root, enum engine_kind kind, const struct engine_command *command,
                       struct assignments *ret, struct problems *problems)
{
    struct assignments own = {0};
    struct engine_words words;
    struct engine_read e = {root, &words, &own, problems};
    int r = engine_words_read(root, command, environment_of(kind), &words, problems);

    if (r == 0)
        r = read_kind(&e, kind, NULL);
    if (r == 0)
        r = append(ret, &own);
    engine_words_deinit(&words);
    assignments_deinit(&own);
    return r;
}

int engine_read_user_podman(const struct root *root, const char *home, struct assignments *ret,
                            struct problems *problems)
{
    static const struct engine_words none;
    struct assignments own = {0};
    struct engine_read e = {root, &none, &own, problems};
    int r = read_kind(&e, ENGINE_PODMAN, home);

    if (r == 0)
        r = append(ret, &own);
    assignments_deinit(&own);
    return r;
}
