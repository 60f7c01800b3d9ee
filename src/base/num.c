#include "base/num.h"

#include "base/err.h"

#include <string.h>

int num_parse(const char *s, size_t n, uint64_t *ret)
{
    uint64_t value = 0;

    if (n == 0)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        if (s[i] < '0' || s[i] > '9')
            return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        uint64_t digit = (uint64_t)(s[i] - '0');

        if (value > (UINT64_MAX - digit) / 10)
            return -ERANGE;
        value = value * 10 + digit;
    }
    *ret = value;
    return 0;
}

static const struct unit {
    const char *name;
    uint64_t ms;
} units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};

int num_parse_duration(const char *s, size_t n, uint64_t *ret_ms)
{
    size_t digits = 0;
    uint64_t value;
    int r;

    while (digits < n && s[digits] >= '0' && s[digits] <= '9')
        digits++;
    r = num_parse(s, digits, &value);
    if (r < 0)
        return r;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) != n - digits || memcmp(units[i].name, s + digits, n - digits) != 0)
            continue;
        if (value > UINT64_MAX / units[i].ms)
            return -ERANGE;
        *ret_ms = value * units[i].ms;
        return 0;
    }
    return -EINVAL;
}

uint64_t num_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t num_mul(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}
