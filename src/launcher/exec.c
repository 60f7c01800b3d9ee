#include "launcher/exec.h"

#include "base/err.h"
#include "base/frame.h"
#include "base/sys.h"
#include "launcher/environment.h"
#include "launcher/launch.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Write the next candidate of a PATH list; an empty part is the working folder. *path is moved behind the
 * part and is NULL after the last. False when the candidate is too long to exist. */
static bool next_candidate(const char **path, const char *name, char *candidate)
{
    const char *end = strchr(*path, ':');
    size_t n = end ? (size_t)(end - *path) : strlen(*path);
    const char *part = *path;
    struct text t;

    *path = end ? end + 1 : NULL;
    if (n + strlen(name) + 2 > PATH_MAX)
        return false;
    text_init(&t, candidate, PATH_MAX);
    text_bytes(&t, part, n);
    text_join(&t, n > 0 ? "/" : "", name, NULL);
    return true;
}

/* Errors after which execvp(3) tries the next folder. */
static bool try_next(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ENODEV || error == ETIMEDOUT ||
           error == ESTALE || error == ELOOP || error == ENAMETOOLONG;
}

/* Walk the candidates of a name; `attempt` returns a negative error when it failed. */
static int search(const char *name, char *const *environment, char *candidate,
                  int (*attempt)(const char *path, void *data), void *data)
{
    const char *path = environment_get(environment, "PATH");
    int result = -ENOENT;

    if (name[0] == '\0')
        return -ENOENT;
    if (strchr(name, '/')) {
        if (strlen(name) >= PATH_MAX)
            return -ENAMETOOLONG;
        memcpy(candidate, name, strlen(name) + 1);
        return attempt(candidate, data);
    }
    for (path = path ? path : DEFAULT_PATH; path;) {
        int r;

        if (!next_candidate(&path, name, candidate))
            continue;
        r = attempt(candidate, data);
        if (r == 0 || !try_next(-r))
            return r;
        if (r == -EACCES)
            result = r;
    }
    return result;
}

struct image {
    char *const *command;
    char *const *environment;
};

static int attempt_exec(const char *path, void *data)
{
    const struct image *image = data;

    execve(path, image->command, image->environment);
    return -errno;
}

static int attempt_look(const char *path, void *data)
{
    struct stat st;
    int r = sys_stat(AT_FDCWD, path, 0, &st);

    (void)data;
    if (r < 0)
        return r;
    return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

static OWN_FRAME int search_path(char *const *command, char *const *environment)
{
    struct image image = {command, environment};
    char candidate[PATH_MAX];

    return search(command[0], environment, candidate, attempt_exec, &image);
}

int exec_search(char *const *command, char *const *environment)
{
    if (!strchr(command[0], '/'))
        return search_path(command, environment);
    execve(command[0], command, environment);
    return -errno;
}

int exec_find(const char *name, char *const *environment, char *ret_path, size_t cap)
{
    char candidate[PATH_MAX];
    struct text t;
    int r = search(name, environment, candidate, attempt_look, NULL);

    if (r < 0)
        return r;
    text_init(&t, ret_path, cap);
    text_str(&t, candidate);
    return 0;
}

int exec_explain(const char *name, int error, char *const *environment, struct text *t)
{
    char path[PATH_MAX];
    bool exists = exec_find(name, environment, path, sizeof(path)) != -ENOENT;

    text_str(t, "can't run ");
    text_quoted(t, name, strlen(name));
    text_str(t, ": ");
    if (error == -ENOENT && !exists) {
        text_str(t, strchr(name, '/') || name[0] == '\0' ? "no such file" : "not found in PATH");
        return EXIT_NOT_FOUND;
    }
    if (error == -ENOTDIR)
        text_str(t, err_text(ENOTDIR));
    else if (error == -ENOENT)
        text_str(t, "its interpreter (of its '#!' line, or its dynamic loader) is missing");
    else if (error == -ENOEXEC)
        text_str(t, "neither a program of this machine nor a script with a '#!' line; name its interpreter");
    else
        text_str(t, err_text(-error));
    return error == -ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
