/* containerd: base_runtime_spec of the CRI plugin's runtimes (containerd, docs/cri/config.md,
 * containerd-config.toml(5); services/server/config/config.go of 1.7, cmd/containerd/server/config/config.go
 * of 2.x). A base spec without RLIMIT_NOFILE, and a runtime without a base spec, let the container inherit.
 */
#include "inspect/engine_read.h"

#include "base/err.h"
#include "base/num.h"
#include "inspect/oci.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES 64

/* A runtime's base spec, and where the configuration names it. */
struct spec {
    char *runtime, *path, *file;
    unsigned line;
    bool dropped; /* by a later file, before containerd 2.0 */
};

struct config {
    const struct engine_read *e;
    char *files[MAX_FILES]; /* in the order of reading: the first, then what they import */
    size_t count;
    uint64_t version; /* of the first */
    struct spec *specs;
    size_t spec_count;
    char *default_runtime;
};

static void deinit(struct config *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->files[i]);
    for (size_t i = 0; i < c->spec_count; i++) {
        free(c->specs[i].runtime);
        free(c->specs[i].path);
        free(c->specs[i].file);
    }
    free(c->specs);
    free(c->default_runtime);
}

/* Append a file to be read, unless it is there: imports may go round in a circle. Takes path over. */
static int add_file(struct config *c, char *path, const char *by, unsigned line)
{
    int r = 0;

    if (!path)
        return -ENOMEM;
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->files[i], path) == 0) {
            free(path);
            return 0;
        }
    if (c->count < MAX_FILES) {
        c->files[c->count++] = path;
        return 0;
    }
    r = problems_add_quoted(c->e->problems, by, line, "import of ", path,
                            " is left out: 64 files are read, and no more");
    free(path);
    return r;
}

/* An import is relative to the folder of the file that has it. */
static char *resolve(const char *by, const char *path)
{
    char *folder, *joined;

    if (*path == '/')
        return strdup(path);
    folder = strndup(by, (size_t)(strrchr(by, '/') - by));
    joined = folder ? engine_join(folder, path) : NULL;
    free(folder);
    return joined;
}

struct import {
    struct config *config;
    const char *pattern, *by;
    unsigned line;
};

static int take_import(const struct engine_read *e, const char *path, void *data)
{
    const struct import *import = data;

    if (fnmatch(import->pattern, strrchr(path, '/') + 1, 0) != 0)
        return 0;
    return add_file(import->config, strdup(path), import->by, import->line);
}

/* One import. Only a "*" makes a pattern of it (config.go, resolveImports). Takes path over. */
static int import_one(struct config *c, const char *by, unsigned line, char *path)
{
    char *slash = path ? strrchr(path, '/') : NULL;
    struct import import = {c, slash ? slash + 1 : "", by, line};
    int r;

    if (!slash || !strchr(path, '*'))
        return add_file(c, path, by, line);
    *slash = '\0';
    if (strchr(path, '*'))
        r = problems_add_quoted(c->e->problems, by, line, "an import with * in the folder ", path,
                                " is left out");
    else
        r = engine_each(c->e, *path ? path : "/", "", take_import, &import);
    free(path);
    return r;
}

static int take_imports(struct config *c, const char *file, const struct toml_node *tree)
{
    const struct toml_node *imports = toml_member(tree, "imports"), *one;
    int r = 0;

    if (!imports || imports->kind != TOML_ARRAY)
        return 0;
    for (one = imports->first; one && r == 0; one = one->next)
        if (one->kind == TOML_STRING && *one->text)
            r = import_one(c, file, one->line, resolve(file, one->text));
    return r;
}

static int set_spec(struct config *c, const char *file, const char *runtime, const struct toml_node *value)
{
    struct spec *larger = realloc(c->specs, (c->spec_count + 1) * sizeof(*larger)), *spec;

    if (!larger)
        return -ENOMEM;
    c->specs = larger;
    for (size_t i = 0; i < c->spec_count; i++)
        if (strcmp(c->specs[i].runtime, runtime) == 0)
            c->specs[i].dropped = true;
    spec = &c->specs[c->spec_count++];
    *spec = (struct spec){.runtime = strdup(runtime),
                          .path = resolve("/", value->text),
                          .file = strdup(file),
                          .line = value->line};
    return spec->runtime && spec->path && spec->file ? 0 : -ENOMEM;
}

static int set_default(struct config *c, const char *name)
{
    free(c->default_runtime);
    c->default_runtime = strdup(name);
    return c->default_runtime ? 0 : -ENOMEM;
}

/* Before 2.0, which has version 3, a later file's section of a plugin replaces an earlier one's. */
static int drop_earlier(struct config *c, const char *file, unsigned line)
{
    bool dropped = false;

    if (c->version >= 3)
        return 0;
    for (size_t i = 0; i < c->spec_count; i++) {
        dropped = dropped || !c->specs[i].dropped;
        c->specs[i].dropped = true;
    }
    if (!dropped)
        return set_default(c, "runc");
    return problems_add(
               c->e->problems, file, line,
               "this section of the CRI plugin takes the place of an earlier file's, base_runtime_spec too, "
               "before containerd 2.0; from 2.0 on the two are merged. Here it takes the place")
               ? -ENOMEM
               : set_default(c, "runc");
}

static int take_section(struct config *c, const char *file, const struct toml_node *section)
{
    const struct toml_node *containerd = toml_member(section, "containerd");
    const struct toml_node *name = toml_member(containerd, "default_runtime_name");
    const struct toml_node *runtimes = toml_member(containerd, "runtimes"), *runtime;
    int r = drop_earlier(c, file, section->line);

    if (r == 0 && name && name->kind == TOML_STRING && *name->text)
        r = set_default(c, name->text);
    if (!runtimes || runtimes->kind != TOML_TABLE)
        return r;
    for (runtime = runtimes->first; runtime && r == 0; runtime = runtime->next) {
        const struct toml_node *value = toml_member(runtime, "base_runtime_spec");

        if (value && value->kind == TOML_STRING && *value->text)
            r = set_spec(c, file, runtime->key, value);
    }
    return r;
}

/* The CRI plugin's section, as the file's version names it. In a configuration of version 3 the name of
 * version 3 counts in an import of any version: those before are brought up to it, and the name stays. */
static const struct toml_node *find_section(const struct config *c, const struct toml_node *tree,
                                            uint64_t version)
{
    const struct toml_node *plugins = toml_member(tree, "plugins"), *section = NULL;

    if (version < 2)
        section = toml_member(plugins, "cri");
    if (version < 3 && !section)
        section = toml_member(plugins, "io.containerd.grpc.v1.cri");
    if (c->version >= 3 && !section)
        section = toml_member(plugins, "io.containerd.cri.v1.runtime");
    return section;
}

static int take_tree(struct config *c, size_t i, const struct toml_node *tree)
{
    const struct toml_node *number = toml_member(tree, "version"), *section;
    uint64_t version = 1;
    int r;

    if (number && number->kind == TOML_NUMBER && num_parse(number->text, strlen(number->text), &version) < 0)
        version = 1;
    if (i == 0)
        c->version = version;
    section = find_section(c, tree, version);
    r = section && section->kind == TOML_TABLE ? take_section(c, c->files[i], section) : 0;
    return r < 0 ? r : take_imports(c, c->files[i], tree);
}

static int read_files(struct config *c)
{
    int r = 0;

    for (size_t i = 0; i < c->count && r == 0; i++) {
        struct toml_node *tree;

        r = toml_read(c->e->root, c->files[i], &tree, c->e->problems);
        if (r == 0) {
            r = take_tree(c, i, tree);
            toml_free(tree);
        } else if (i == 0) {
            r = problems_add_unless_missing(c->e->problems, c->files[i], r);
        } else if (r != -ENOMEM) {
            r = problems_add_unread(c->e->problems, c->files[i], r);
        }
    }
    return r;
}

static int add_unread(const struct config *c, const struct spec *spec, int error)
{
    char buffer[TEXT_LINE];
    TEXT_ON(text, buffer);

    text_str(&text, "base_runtime_spec ");
    text_quoted(&text, spec->path, strlen(spec->path));
    text_join(&text, " can't be read: ", err_text(error), "; no container of this runtime starts without it",
              NULL);
    return problems_add(c->e->problems, spec->file, spec->line, buffer);
}

/* The limits of one base spec: in force for the default runtime, listed for the others. */
static int add_spec(const struct config *c, const struct spec *spec, bool in_force)
{
    struct assignments own = {0};
    char buffer[TEXT_LINE];
    TEXT_ON(why, buffer);
    int r = oci_read_limits(c->e->root, spec->path, &own, c->e->problems);

    if (r < 0 && r != -ENOMEM && r != -EBADMSG)
        r = add_unread(c, spec, -r);
    text_str(&why, "of the runtime ");
    text_quoted(&why, spec->runtime, strlen(spec->runtime));
    text_str(&why,
             spec->dropped ? ", in a section that a later file replaces" : ", which is not the default one");
    for (size_t i = 0; i < own.count && (r == 0 || r == -EBADMSG); i++) {
        struct assignment add = own.at[i];

        if (!in_force && add.state == ASSIGNMENT_IN_FORCE) {
            add.state = ASSIGNMENT_OVERRIDDEN;
            add.problem = buffer;
        }
        r = assignments_add(c->e->ret, &add);
    }
    assignments_deinit(&own);
    return r == -ENOMEM ? r : 0;
}

static int add_specs(const struct config *c)
{
    const char *runtime = c->default_runtime ? c->default_runtime : "runc";
    int r = 0;

    for (int in_force = 0; in_force < 2; in_force++)
        for (size_t i = 0; i < c->spec_count && r == 0; i++) {
            const struct spec *spec = &c->specs[i];

            if ((strcmp(spec->runtime, runtime) == 0 && !spec->dropped) == in_force)
                r = add_spec(c, spec, in_force);
        }
    return r;
}

int engine_containerd(const struct engine_read *e, const char *config)
{
    struct config c = {.e = e};
    int r = add_file(&c, resolve("/", config), config, 0);

    if (r == 0)
        r = read_files(&c);
    if (r == 0)
        r = add_specs(&c);
    deinit(&c);
    return r;
}
