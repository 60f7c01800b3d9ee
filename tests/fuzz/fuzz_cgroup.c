/* libFuzzer target: /proc/PID/cgroup and /proc/PID/limits, of any bytes, read without fault; an id and its
 * engine come together, and every text ends and holds no slash. */
#include "inspect/cgroup.h"
#include "inspect/proc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(const char text[CGROUP_NAME])
{
    require(memchr(text, '\0', CGROUP_NAME) != NULL);
    require(!strchr(text, '/') && !strchr(text, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *exact = malloc(n ? n : 1); /* nothing stands behind it */
    struct nofile limit;
    struct cgroup of;

    require(exact != NULL);
    if (n > 0)
        memcpy(exact, bytes, n);
    cgroup_parse(exact, n, &of);
    require((of.engine == CONTAINER_NONE) == (of.id[0] == '\0'));
    require(container_engine_name(of.engine) != NULL);
    check_text(of.id);
    check_text(of.pod);
    check_text(of.unit);
    check_text(of.inner);
    proc_limits_parse(exact, n, &limit);
    free(exact);
    return 0;
}
