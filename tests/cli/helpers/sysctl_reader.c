/* sysctl_reader ROOT: fs.nr_open and fs.file-max as the files below a root set them at boot, "-" where none
 * does. */
#include "base/err.h"
#include "inspect/sysctl.h"

#include <stdio.h>

static int show(const struct root *root, enum sysctl_name name, struct problems *problems)
{
    const struct assignment *last;
    struct sysctl sysctl;

    if (sysctl_read(root, name, &sysctl, problems) < 0)
        return 1;
    last = assignments_last(&sysctl.files);
    if (last)
        printf("%llu\n", (unsigned long long)last->limit.hard);
    else
        printf("-\n");
    sysctl_deinit(&sysctl);
    return 0;
}

int main(int argc, char **argv)
{
    struct problems problems = {0};
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);
    struct root root;
    int r;

    if (argc != 2 || root_open(argv[1], &root, &why) < 0)
        return 1;
    r = show(&root, SYSCTL_NR_OPEN, &problems) || show(&root, SYSCTL_FILE_MAX, &problems);
    problems_deinit(&problems);
    root_close(&root);
    return r;
}
