/* What the readers of the engines share. Part of inspect/engine.c. */
#ifndef FDFIT_INSPECT_ENGINE_READ_H
#define FDFIT_INSPECT_ENGINE_READ_H

#include "inspect/engine.h"
#include "inspect/engine_words.h"
#include "inspect/json_file.h"
#include "inspect/toml.h"

struct engine_read {
    const struct root *root;
    const struct engine_words *words; /* of its command line */
    struct assignments *ret;
    struct problems *problems;
};

int engine_docker(const struct engine_read *e);

/** What dockerd takes from a daemon.json that was read (under the name `path`) and its own options. Pure. */
int engine_docker_take(const struct engine_read *e, const struct json_file *file, const char *path);

int engine_containerd(const struct engine_read *e, const char *config);
int engine_crio(const struct engine_read *e);
int engine_podman(const struct engine_read *e, const char *home);

/** The value of the last of an option, else `fallback`. */
const char *engine_file(const struct engine_read *e, const char *const *names, const char *fallback);

/** Append one "nofile=SOFT:HARD"; what is set before is then overridden. Another resource is left out; one
 * that is bad is appended as such, and a problem says that `engine` refuses it. Returns 0 or -ENOMEM. */
int engine_add_ulimit(const struct engine_read *e, const char *engine, const char *file, unsigned line,
                      const char *text);

/** Append one that was read. */
int engine_add(const struct engine_read *e, const char *file, unsigned line, const char *text,
               const struct nofile *limit);

/** Read a TOML file. One that is not there is none; what can't be read is a problem.
 *  Returns 0 (*ret NULL: no tree) or -ENOMEM. */
int engine_toml(const struct engine_read *e, const char *path, struct toml_node **ret);

/** Call `take` for each file of a folder in the order of their names, those alone whose name ends with
 *  `suffix`; folders in it are left out. A folder that is not there has none. Returns 0, -ENOMEM, or what
 * take gave. */
typedef int engine_take(const struct engine_read *e, const char *path, void *data);
int engine_each(const struct engine_read *e, const char *folder, const char *suffix, engine_take *take,
                void *data);

/** "folder/name", the caller's; NULL: no memory. */
char *engine_join(const char *folder, const char *name);

#endif
