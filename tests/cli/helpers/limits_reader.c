/* limits_reader ROOT USER SOFT HARD PID1: the limit that a session of the user gets below a root, as "SOFT
 * HARD", from a login program with SOFT and HARD and a PID 1 with PID1 as both. */
#include "base/err.h"
#include "base/num.h"
#include "inspect/limits_conf.h"

#include <stdio.h>
#include <string.h>

static uint64_t number(const char *s)
{
    uint64_t value = 0;

    num_parse(s, strlen(s), &value);
    return value;
}

int main(int argc, char **argv)
{
    struct problems problems = {0};
    struct limits_user user;
    struct limits_conf conf;
    struct nofile inherited, pid1, result;
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);
    struct root root;

    if (argc != 6 || root_open(argv[1], &root, &why) < 0 || limits_user_read(&root, argv[2], 0, &user) != 0 ||
        limits_conf_read(&root, &user, &conf, &problems) < 0)
        return 1;
    inherited = (struct nofile){number(argv[3]), number(argv[4])};
    pid1 = (struct nofile){number(argv[5]), number(argv[5])};
    result = limits_conf_result(&conf, &user, &inherited, &pid1, UINT64_MAX);
    printf("%llu %llu\n", (unsigned long long)result.soft, (unsigned long long)result.hard);
    limits_conf_deinit(&conf);
    limits_user_deinit(&user);
    problems_deinit(&problems);
    root_close(&root);
    return 0;
}
