#include "inspect/limits_conf.h"

#include "base/err.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file below the root as a stream, for libc's readers. *bytes has to live as long. A missing file is an
 * empty stream: its *ret_stream is NULL. */
static int open_stream(const struct root *root, const char *path, char **ret_bytes, FILE **ret_stream)
{
    char *bytes = NULL;
    FILE *stream = NULL;
    size_t n = 0;
    int r = root_read(root, path, &bytes, &n);

    if (r < 0 && r != -ENOENT)
        return r;
    if (n > 0) {
        stream = fmemopen(bytes, n, "r");
        if (!stream) {
            free(bytes);
            return -ENOMEM;
        }
    }
    *ret_bytes = bytes;
    *ret_stream = stream;
    return 0;
}

static void close_stream(char *bytes, FILE *stream)
{
    if (stream)
        fclose(stream);
    free(bytes);
}

static int find_user(const struct root *root, const char *name, uid_t uid, struct limits_user *user)
{
    struct passwd *found = NULL;
    char *bytes;
    FILE *stream;
    int r = open_stream(root, "/etc/passwd", &bytes, &stream);

    if (r < 0)
        return r;
    while (stream && (found = fgetpwent(stream)))
        if (name ? strcmp(found->pw_name, name) == 0 : found->pw_uid == uid)
            break;
    r = found ? 0 : LIMITS_CONF_NO_USER;
    if (found) {
        user->uid = found->pw_uid;
        user->gid = found->pw_gid;
        user->name = strdup(found->pw_name);
        r = user->name ? 0 : -ENOMEM;
    }
    close_stream(bytes, stream);
    return r;
}

static bool is_member(const struct group *group, const struct limits_user *user)
{
    for (char **member = group->gr_mem; *member; member++)
        if (strcmp(*member, user->name) == 0)
            return true;
    return group->gr_gid == user->gid;
}

static int add_group(struct limits_user *user, const struct group *group)
{
    struct limits_group *larger = realloc(user->groups, (user->group_count + 1) * sizeof(*larger));

    if (!larger)
        return -ENOMEM;
    user->groups = larger;
    larger += user->group_count;
    larger->gid = group->gr_gid;
    larger->name = strdup(group->gr_name);
    if (!larger->name)
        return -ENOMEM;
    user->group_count++;
    return 0;
}

static int find_groups(const struct root *root, struct limits_user *user)
{
    struct group *group;
    char *bytes;
    FILE *stream;
    int r = open_stream(root, "/etc/group", &bytes, &stream);

    if (r < 0)
        return r;
    while (r == 0 && stream && (group = fgetgrent(stream)))
        if (is_member(group, user))
            r = add_group(user, group);
    close_stream(bytes, stream);
    return r;
}

/* Whether a line of os-release(5) names Debian as the system or one that it is like. */
static bool names_debian(const char *line)
{
    static const char debian[] = "debian", quotes[] = "\"' ";
    const char *value = text_behind(line, "ID=");
    size_t n;

    if (!value)
        value = text_behind(line, "ID_LIKE=");
    for (; value && *value; value += n) {
        value += strspn(value, quotes);
        n = strcspn(value, quotes);
        if (n == strlen(debian) && memcmp(value, debian, n) == 0)
            return true;
    }
    return false;
}

static int is_like_debian(const struct root *root, bool *ret)
{
    char *bytes, *at;
    size_t n;
    int r = root_read(root, "/etc/os-release", &bytes, &n);

    *ret = false;
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    at = bytes;
    for (char *line = strtok_r(bytes, "\r\n", &at); line; line = strtok_r(NULL, "\r\n", &at))
        *ret = *ret || names_debian(line);
    free(bytes);
    return 0;
}

int limits_user_read(const struct root *root, const char *name, uid_t uid, struct limits_user *ret)
{
    struct limits_user user = {0};
    int r = find_user(root, name, uid, &user);

    if (r == 0)
        r = find_groups(root, &user);
    if (r == 0)
        r = is_like_debian(root, &user.debian);
    if (r == 0)
        *ret = user;
    else
        limits_user_deinit(&user);
    return r;
}

void limits_user_deinit(struct limits_user *user)
{
    for (size_t i = 0; i < user->group_count; i++)
        free(user->groups[i].name);
    free(user->groups);
    free(user->name);
    *user = (struct limits_user){0};
}
