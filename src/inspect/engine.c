#include "inspect/engine.h"

#include "base/err.h"
#include "base/fd.h"
#include "inspect/engine_read.h"
#include "inspect/ulimit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One word of a command line, as systemd.service(5) ("Command lines") has it: quotes, and a backslash that
 * takes the next character as it is. Steps *at behind it. Returns 0, 1 (no more) or -ENOMEM. */
static int next_word(const char **at, char **ret)
{
    static const char blanks[] = " \t\n\r";
    const char *s = *at + strspn(*at, blanks);
    char *word, quote = '\0';
    size_t n = 0;

    if (!*s)
        return 1;
    word = malloc(strlen(s) + 1);
    if (!word)
        return -ENOMEM;
    for (; *s && (quote || !strchr(blanks, *s)); s++) {
        if (quote ? *s == quote : *s == '"' || *s == '\'')
            quote = quote ? '\0' : *s;
        else
            word[n++] = *s == '\\' && s[1] ? *++s : *s;
    }
    word[n] = '\0';
    *at = s;
    *ret = word;
    return 0;
}

/* Whether a word is the option: 0: no; 1: its value is the next word; 2: it stands behind "=", at *ret_value.
 */
static int is_option(const char *word, const char *const *names, const char **ret_value)
{
    for (; *names; names++) {
        const char *behind = text_behind(word, *names);

        if (behind && !*behind)
            return 1;
        if (behind && *behind == '=') {
            *ret_value = behind + 1;
            return 2;
        }
    }
    return 0;
}

int engine_option(const struct engine_command *command, const char *const *names, size_t nth, char **ret)
{
    const char *at = command && command->exec ? command->exec : "", *value;
    char *word = NULL;
    int r, kind;

    for (;;) {
        r = next_word(&at, &word);
        if (r != 0)
            return r;
        kind = is_option(word, names, &value);
        if (kind == 2 && nth == 0)
            memmove(word, value, strlen(value) + 1);
        if (kind == 1) {
            free(word);
            r = next_word(&at, &word);
            if (r != 0)
                return r;
        }
        if (kind > 0 && nth-- == 0) {
            *ret = word;
            return 0;
        }
        free(word);
    }
}

int engine_file(const struct engine_command *command, const char *const *names, const char *fallback,
                char **ret)
{
    char *file = strdup(fallback), *found;
    int r = file ? 0 : -ENOMEM;

    for (size_t nth = 0; r == 0; nth++) {
        r = engine_option(command, names, nth, &found);
        if (r == 0) {
            free(file);
            file = found;
        }
    }
    if (r < 0)
        free(file);
    else
        *ret = file;
    return r < 0 ? r : 0;
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

    if (r == 0 || r == -ENOMEM)
        return r;
    *ret = NULL;
    return r == -ENOENT || r == -ENOTDIR ? 0 : problems_add_unread(e->problems, path, r);
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

    if (r == -ENOENT || r == -ENOTDIR)
        return 0;
    if (r < 0)
        return r == -ENOMEM ? r : problems_add_unread(e->problems, folder, r);
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
    char *config;
    int r = engine_file(e->command, options, "/etc/containerd/config.toml", &config);

    if (r < 0)
        return r;
    r = engine_containerd(e, config);
    free(config);
    return r;
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

/* What the engine sets takes the place of what the caller has so far; an engine that sets nothing leaves it.
 */
static int read_engine(struct engine_read e, enum engine_kind kind, const char *home)
{
    struct assignments *ret = e.ret, own = {0};
    int r;

    e.ret = &own;
    r = read_kind(&e, kind, home);
    if (assignments_last(&own))
        assignments_override(ret);
    for (size_t i = 0; i < own.count && r == 0; i++)
        r = assignments_add(ret, &own.at[i]);
    assignments_deinit(&own);
    return r;
}

int engine_read_limits(const struct root *root, enum engine_kind kind, const struct engine_command *command,
                       struct assignments *ret, struct problems *problems)
{
    return read_engine((struct engine_read){root, command, ret, problems}, kind, NULL);
}

int engine_read_user_podman(const struct root *root, const char *home, struct assignments *ret,
                            struct problems *problems)
{
    return read_engine((struct engine_read){root, NULL, ret, problems}, ENGINE_PODMAN, home);
}
