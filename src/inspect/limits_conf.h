/* /etc/security/limits.conf and limits.d, as pam_limits(8) reads them at a login: limits.conf(5), and
 * modules/pam_limits/pam_limits.c of Linux-PAM 1.5. Whether a login goes through pam_limits is not looked at.
 */
#ifndef FDFIT_INSPECT_LIMITS_CONF_H
#define FDFIT_INSPECT_LIMITS_CONF_H

#include "inspect/assignment.h"
#include "inspect/problems.h"
#include "inspect/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** The node's passwd knows no such user, who may come from elsewhere (nsswitch.conf). */
#define LIMITS_CONF_NO_USER 1

struct limits_group {
    char *name;
    gid_t gid;
};

/** Who logs in. Owns its strings. */
struct limits_user {
    char *name;
    uid_t uid;
    gid_t gid;
    struct limits_group *groups; /* all that the user is in, the first one too */
    size_t group_count;
    bool debian; /* the node is Debian or like it, whose pam_limits differs: see below */
};

/** What the lines set for one user. In each list the last one in force counts, its value as both soft and
 * hard of `limit`, UINT64_MAX for unlimited (which pam_limits sets as fs.nr_open). pam_limits lowers a soft
 * limit to the hard one, and leaves the one that no line sets as it is. */
struct limits_conf {
    struct assignments soft, hard;
    unsigned soft_rank, hard_rank; /* of the line in force: 1 the user, 2 a group, 3 everybody; 0: none */
    bool exempt;                   /* "USER -": nothing is set, and no further file is read */
};

/** Find a user by name, or by uid where name is NULL, in /etc/passwd and /etc/group below the root. Returns
 * 0, LIMITS_CONF_NO_USER, -ENOMEM, or -errno of root_read. */
int limits_user_read(const struct root *root, const char *name, uid_t uid, struct limits_user *ret);
void limits_user_deinit(struct limits_user *user);

/** Take the n bytes of one file; lines that pam_limits skips or reads otherwise than they look are added to
 *  `problems`, the first of many. Returns 0 or -ENOMEM. */
int limits_conf_take(const char *bytes, size_t n, const char *file, const struct limits_user *user,
                     struct limits_conf *conf, struct problems *problems);

/** Take limits.conf, then limits.d's *.conf in the order of their names' bytes. Gives what the user gets,
 * also when a file could not be read, which is a problem. Returns 0 or -ENOMEM. */
int limits_conf_read(const struct root *root, const struct limits_user *user, struct limits_conf *ret,
                     struct problems *problems);
void limits_conf_deinit(struct limits_conf *conf);

/** The limit of a session: of what the login program had itself (`inherited`), what PID 1 has, fs.nr_open for
 *  unlimited. Where hard is then above what the login program may set, pam_limits fails, and the session, if
 * there is one, has what it was before. Pure. */
struct nofile limits_conf_result(const struct limits_conf *conf, const struct limits_user *user,
                                 const struct nofile *inherited, const struct nofile *pid1, uint64_t nr_open);

#endif
