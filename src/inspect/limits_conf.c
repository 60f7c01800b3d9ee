#include "inspect/limits_conf.h"

#include "base/err.h"
#include "base/num.h"
#include "inspect/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEBIANS_SOFT 1024

enum { DOMAIN, TYPE, ITEM, VALUE, FIELDS };

/* How exactly a line means the user: the lower, the more it counts. */
enum rank { RANK_NONE, RANK_USER, RANK_GROUP, RANK_EVERYBODY };

enum range { RANGE_NONE, RANGE_BAD, RANGE_ONE, RANGE_BETWEEN, RANGE_FROM };

struct reader {
    const char *file;
    unsigned line;
    const struct limits_user *user;
    struct limits_conf *conf;
    struct problems *problems;
    size_t told;
};

static int complain(struct reader *r, const char *before, const char *word, const char *behind)
{
    int wanted = problems_want_line(r->problems, r->file, r->line, &r->told);

    return wanted > 0 ? problems_add_quoted(r->problems, r->file, r->line, before, word, behind) : wanted;
}

/* MIN:MAX, :ONE or MIN: behind a mark of groups. */
static enum range read_range(const char *domain, uint64_t *ret_min, uint64_t *ret_max)
{
    const char *begin = domain + (*domain == '@' || *domain == '%'), *colon = strchr(domain, ':');

    *ret_min = *ret_max = 0;
    if (!colon)
        return RANGE_NONE;
    if (colon > begin && (num_parse(begin, (size_t)(colon - begin), ret_min) < 0 || *ret_min > UINT32_MAX))
        return RANGE_BAD;
    if (!colon[1])
        return colon > begin ? RANGE_FROM : RANGE_BAD;
    if (num_parse(colon + 1, strlen(colon + 1), ret_max) < 0 || *ret_max > UINT32_MAX)
        return RANGE_BAD;
    return colon > begin ? RANGE_BETWEEN : RANGE_ONE;
}

static bool in_group(const struct limits_user *user, const char *name, uint64_t gid)
{
    for (size_t i = 0; i < user->group_count; i++)
        if (name ? strcmp(user->groups[i].name, name) == 0 : user->groups[i].gid == gid)
            return true;
    return false;
}

static enum rank rank_of_group(const struct limits_user *user, const char *name, enum range range,
                               uint64_t min, uint64_t max)
{
    bool means = false;

    switch (range) {
    case RANGE_NONE: means = in_group(user, name, 0); break;
    case RANGE_ONE: means = in_group(user, NULL, max) || user->gid == max; break;
    /* Of ranges the first group alone is looked at. */
    case RANGE_BETWEEN: means = user->gid >= min && user->gid <= max; break;
    case RANGE_FROM: means = user->gid >= min; break;
    case RANGE_BAD: break;
    }
    return means ? RANK_GROUP : RANK_NONE;
}

/* Whom a line means; RANK_NONE: somebody else. */
static enum rank rank_of(const struct limits_user *user, const char *domain, enum range range, uint64_t min,
                         uint64_t max)
{
    if (strcmp(domain, user->name) == 0)
        return RANK_USER;
    if (*domain == '@')
        return rank_of_group(user, domain + 1, range, min, max);
    switch (range) {
    case RANGE_NONE: return strcmp(domain, "*") == 0 ? RANK_EVERYBODY : RANK_NONE;
    case RANGE_ONE: return user->uid == max ? RANK_USER : RANK_NONE;
    case RANGE_BETWEEN: return user->uid >= min && user->uid <= max ? RANK_USER : RANK_NONE;
    case RANGE_FROM: return user->uid >= min ? RANK_USER : RANK_NONE;
    case RANGE_BAD: break;
    }
    return RANK_NONE;
}

/* Append to one list. Returns 1 when a more exact line has set it already, which pam_limits then ends the
 * line with: of "-" the hard limit is not looked at any more. */
static int set(struct reader *r, struct assignments *list, unsigned *rank, enum rank is, const char *text,
               uint64_t value)
{
    struct assignment add = {.file = r->file, .line = r->line, .text = text, .limit = {value, value}};
    bool less = *rank != RANK_NONE && *rank < is;
    int ret;

    if (less) {
        add.state = ASSIGNMENT_OVERRIDDEN;
        add.problem = "a line that means the user more exactly counts";
    } else {
        struct assignment *last = (struct assignment *)assignments_last(list);

        if (last)
            last->state = ASSIGNMENT_OVERRIDDEN;
        *rank = is;
    }
    ret = assignments_add(list, &add);
    return ret < 0 ? ret : less;
}

/* As strtoull(3) reads it: what stands behind the digits is left out. */
static int read_value(struct reader *r, const char *text, uint64_t *ret)
{
    static const char *const unlimited[] = {"-1", "-", "unlimited", "infinity"};
    char *end;

    for (size_t i = 0; i < sizeof(unlimited) / sizeof(unlimited[0]); i++)
        if (strcasecmp(text, unlimited[i]) == 0) {
            *ret = UINT64_MAX;
            return 0;
        }
    *ret = strtoull(text, &end, 10);
    if (end == text) {
        int e = complain(r, "", text, " is no limit; pam_limits skips the line");

        return e < 0 ? e : 1;
    }
    return *end ? complain(r, "of ", text, " pam_limits takes the number before it alone") : 0;
}

static int take_nofile(struct reader *r, char *const *field, enum rank rank)
{
    bool both = strcmp(field[TYPE], "-") == 0, soft = both || strcasecmp(field[TYPE], "soft") == 0;
    uint64_t value;
    int e;

    if (!soft && strcasecmp(field[TYPE], "hard") != 0)
        return complain(r, "type ", field[TYPE], " is none of soft, hard and -; pam_limits skips the line");
    e = read_value(r, field[VALUE], &value);
    if (e == 0 && soft)
        e = set(r, &r->conf->soft, &r->conf->soft_rank, rank, field[VALUE], value);
    if (e == 0 && (both || !soft))
        e = set(r, &r->conf->hard, &r->conf->hard_rank, rank, field[VALUE], value);
    return e < 0 ? e : 0;
}

/* "USER -": pam_limits sets nothing at all. A wildcard can't have it. */
static void exempt(struct limits_conf *conf)
{
    struct assignment *last;

    conf->exempt = true;
    conf->soft_rank = conf->hard_rank = RANK_NONE;
    last = (struct assignment *)assignments_last(&conf->soft);
    if (last)
        last->state = ASSIGNMENT_OVERRIDDEN;
    last = (struct assignment *)assignments_last(&conf->hard);
    if (last)
        last->state = ASSIGNMENT_OVERRIDDEN;
}

/* Root on Debian, whom a line has to name, unless it exempts. */
static bool is_apart(const struct limits_user *user, enum rank rank)
{
    return user->debian && user->uid == 0 && rank != RANK_USER;
}

static int take_fields(struct reader *r, char *const *field, size_t count)
{
    uint64_t min, max;
    enum range range = read_range(field[DOMAIN], &min, &max);
    enum rank rank = rank_of(r->user, field[DOMAIN], range, min, max);

    if (range == RANGE_BAD)
        return complain(r, "", field[DOMAIN], " is no range of ids; pam_limits skips the line");
    if (count == 2 && field[TYPE][0] == '-') {
        if (rank == RANK_USER || rank == RANK_GROUP)
            exempt(r->conf);
        return 0;
    }
    if (count < FIELDS)
        return complain(r, "line of ", field[DOMAIN], " has too few words; pam_limits skips it");
    if (strcasecmp(field[ITEM], "nofile") != 0)
        return 0;
    if (field[DOMAIN][0] == '%')
        return complain(r, "", field[DOMAIN],
                        " can't set nofile (% is for maxlogins); pam_limits skips the line");
    return rank == RANK_NONE || is_apart(r->user, rank) ? 0 : take_nofile(r, field, rank);
}

static int take_line(char *line, unsigned number, void *data)
{
    static const char blanks[] = " \t\r\f\v";
    struct reader *r = data;
    char *field[FIELDS] = {NULL}, *rest;
    size_t count = 0;
    int e;

    r->line = number;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, blanks, &rest); word && count < FIELDS;
         word = strtok_r(NULL, blanks, &rest))
        field[count++] = word;
    e = count == 0 ? 0 : take_fields(r, field, count);
    return e < 0 ? e : r->conf->exempt;
}

int limits_conf_take(const char *bytes, size_t n, const char *file, const struct limits_user *user,
                     struct limits_conf *conf, struct problems *problems)
{
    struct reader reader = {.file = file, .user = user, .conf = conf, .problems = problems};

    return lines_each(bytes, n, take_line, &reader);
}

static int take_file(const struct root *root, const char *path, const struct limits_user *user,
                     struct limits_conf *conf, struct problems *problems)
{
    char *bytes;
    size_t n;
    int r = root_read(root, path, &bytes, &n);

    if (r < 0)
        return problems_add_unless_missing(problems, path, r);
    r = limits_conf_take(bytes, n, path, user, conf, problems);
    free(bytes);
    return r;
}

static int take_folder(const struct root *root, const struct limits_user *user, struct limits_conf *conf,
                       struct problems *problems)
{
    static const char folder[] = "/etc/security/limits.d";
    char **names, *path;
    size_t count;
    int r = root_names(root, folder, &names, &count);

    if (r < 0)
        return problems_add_unless_missing(problems, folder, r);
    for (size_t i = 0; i < count && r == 0 && !conf->exempt; i++) {
        size_t n = strlen(names[i]);

        /* As glob(7) has "*.conf": not what begins with a dot. */
        if (names[i][0] == '.' || n < 5 || strcmp(names[i] + n - 5, ".conf") != 0)
            continue;
        if (asprintf(&path, "%s/%s", folder, names[i]) < 0) {
            r = -ENOMEM;
            break;
        }
        r = take_file(root, path, user, conf, problems);
        free(path);
    }
    root_names_free(names, count);
    return r;
}

int limits_conf_read(const struct root *root, const struct limits_user *user, struct limits_conf *ret,
                     struct problems *problems)
{
    struct limits_conf conf = {0};
    int r = take_file(root, "/etc/security/limits.conf", user, &conf, problems);

    if (r == 0 && !conf.exempt)
        r = take_folder(root, user, &conf, problems);
    if (r < 0)
        limits_conf_deinit(&conf);
    else
        *ret = conf;
    return r;
}

void limits_conf_deinit(struct limits_conf *conf)
{
    assignments_deinit(&conf->soft);
    assignments_deinit(&conf->hard);
    *conf = (struct limits_conf){0};
}

struct nofile limits_conf_result(const struct limits_conf *conf, const struct limits_user *user,
                                 const struct nofile *inherited, const struct nofile *pid1, uint64_t nr_open)
{
    const struct assignment *soft = assignments_last(&conf->soft), *hard = assignments_last(&conf->hard);
    struct nofile limit = *inherited;

    if (user->debian)
        limit.soft = num_min(DEBIANS_SOFT, limit.hard);
    if (conf->exempt)
        return limit;
    if (user->debian)
        limit = (struct nofile){DEBIANS_SOFT, pid1->hard};
    if (soft)
        limit.soft = soft->limit.soft == UINT64_MAX ? nr_open : soft->limit.soft;
    if (hard)
        limit.hard = hard->limit.hard == UINT64_MAX ? nr_open : hard->limit.hard;
    limit.soft = num_min(limit.soft, limit.hard);
    return limit;
}
