#include "launcher/environment.h"

#include "base/text.h"

const char *environment_get(char *const *environment, const char *name)
{
    for (; *environment; environment++) {
        const char *rest = text_behind(*environment, name);

        if (rest && *rest == '=')
            return rest + 1;
    }
    return NULL;
}
