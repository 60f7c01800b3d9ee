#include "launcher/environment.h"

#include <stddef.h>
#include <string.h>

const char *environment_get(char *const *environment, const char *name)
{
    size_t n = strlen(name);

    for (; *environment; environment++)
        if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
            return *environment + n + 1;
    return NULL;
}
