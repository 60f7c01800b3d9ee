/* libFuzzer target: limits.conf, of any bytes, read for one user without fault; what is wrong is said in
 * printable lines of a bounded number, and what is in force is the line of the best rank. */
#include "base/err.h"
#include "inspect/limits_conf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_list(const struct assignments *list, unsigned lines, bool set)
{
    const struct assignment *last = assignments_last(list);
    size_t in_force = 0;

    require(set == (last != NULL));
    for (size_t i = 0; i < list->count; i++) {
        require(list->at[i].line >= 1 && list->at[i].line <= lines);
        in_force += list->at[i].state == ASSIGNMENT_IN_FORCE;
    }
    require(in_force == set);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct limits_group groups[] = {{(char *)"users", 100}, {(char *)"db", 2000}};
    static const struct limits_user user = {(char *)"anna", 1000, 100, groups, 2, false};
    char *exact = malloc(n ? n : 1); /* nothing stands behind it */
    struct problems problems = {0};
    struct limits_conf conf = {0};
    unsigned lines = 1;

    require(exact != NULL);
    if (n > 0)
        memcpy(exact, bytes, n);
    for (size_t i = 0; i < n; i++)
        lines += exact[i] == '\n';
    require(limits_conf_take(exact, n, "fuzz.conf", &user, &conf, &problems) == 0);
    check_list(&conf.soft, lines, conf.soft_rank != 0);
    check_list(&conf.hard, lines, conf.hard_rank != 0);
    require(problems.count <= 21);
    for (size_t i = 0; i < problems.count; i++)
        for (const char *s = problems.at[i].text; *s; s++)
            require(*s >= 0x20 && *s < 0x7f);
    limits_conf_deinit(&conf);
    problems_deinit(&problems);
    free(exact);
    return 0;
}
