/* CRI-O and podman: lists of default_ulimits. A later file's list replaces an earlier one's (crio.conf.d(5);
 * containers.conf(5)). */
#include "inspect/engine_read.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whose list it is. */
struct list {
    const char *engine;
    const char *const *keys;
};

/* containers.conf(5), "Appending to String Arrays": the list goes on where an earlier file's one ended. */
static bool appends(const struct toml_node *list)
{
    for (const struct toml_node *one = list->first; one; one = one->next) {
        const struct toml_node *append = toml_member(one, "append");

        if (append && append->kind == TOML_BOOLEAN && strcmp(append->text, "true") == 0)
            return true;
    }
    return false;
}

static int take_list(const struct engine_read *e, const struct list *of, const char *path,
                     const struct toml_node *list)
{
    int r = 0;

    if (list->kind != TOML_ARRAY)
        return problems_add(e->problems, path, list->line, "default_ulimits is no list, and is left out");
    if (!appends(list))
        assignments_override(e->ret);
    for (const struct toml_node *one = list->first; one && r == 0; one = one->next)
        if (one->kind == TOML_STRING)
            r = engine_add_ulimit(e, of->engine, path, one->line, one->text);
        else if (one->kind != TOML_TABLE)
            r = problems_add(e->problems, path, one->line, "no string in default_ulimits, and is left out");
    return r;
}

static int take_file(const struct engine_read *e, const char *path, void *data)
{
    const struct list *of = data;
    const struct toml_node *list;
    struct toml_node *tree;
    int r = engine_toml(e, path, &tree);

    if (r < 0)
        return r;
    list = toml_find(tree, of->keys);
    if (list)
        r = take_list(e, of, path, list);
    toml_free(tree);
    return r;
}

/* Each flag may hold several, with commas between them. */
static int take_flag(const struct engine_read *e, const struct engine_word *word, const char *value)
{
    char *copy = strdup(value), *rest;
    int r = copy ? 0 : -ENOMEM;

    if (r == 0)
        for (char *one = strtok_r(copy, ",", &rest); one && r == 0; one = strtok_r(NULL, ",", &rest))
            r = engine_add_ulimit(e, "crio", word->file, word->line, one);
    free(copy);
    return r;
}

/* The flag takes the place of the files' lists. */
static int take_flags(const struct engine_read *e)
{
    static const char *const flags[] = {"--default-ulimits", NULL};
    const struct engine_word *word;
    const char *value;
    int r = 0;

    for (size_t nth = 0; r == 0 && (word = engine_words_option(e->words, flags, nth, &value)); nth++) {
        if (nth == 0)
            assignments_override(e->ret);
        r = take_flag(e, word, value);
    }
    return r;
}

int engine_crio(const struct engine_read *e)
{
    static const char *const keys[] = {"crio", "runtime", "default_ulimits", NULL};
    static const char *const file_options[] = {"--config", "-c", NULL};
    static const char *const folder_options[] = {"--config-dir", "-d", NULL};
    struct list list = {"crio", keys};
    int r = take_file(e, engine_file(e, file_options, "/etc/crio/crio.conf"), &list);

    if (r == 0)
        r = engine_each(e, engine_file(e, folder_options, "/etc/crio/crio.conf.d"), "", take_file, &list);
    return r < 0 ? r : take_flags(e);
}

/* A file, and the folder of drop-ins beside it. */
static int take_podman(const struct engine_read *e, char *file)
{
    static const char *const keys[] = {"containers", "default_ulimits", NULL};
    struct list list = {"podman", keys};
    char *folder = NULL;
    int r = -ENOMEM;

    if (file && asprintf(&folder, "%s.d", file) >= 0) {
        r = take_file(e, file, &list);
        if (r == 0)
            r = engine_each(e, folder, ".conf", take_file, &list);
        free(folder);
    }
    free(file);
    return r;
}

int engine_podman(const struct engine_read *e, const char *home)
{
    int r = take_podman(e, strdup("/usr/share/containers/containers.conf"));

    if (r == 0)
        r = take_podman(e, strdup("/etc/containers/containers.conf"));
    if (r == 0 && home)
        r = take_podman(e, engine_join(home, ".config/containers/containers.conf"));
    return r;
}
