#include "policy/limit.h"

void limit_format(uint64_t limit, struct text *t)
{
    if (limit == UINT64_MAX)
        text_str(t, "unlimited");
    else
        text_u64(t, limit);
}

void nofile_format(const struct nofile *pair, struct text *t)
{
    limit_format(pair->soft, t);
    text_char(t, ':');
    limit_format(pair->hard, t);
}
