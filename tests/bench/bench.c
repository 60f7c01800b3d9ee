/* See bench.h. */
#include "bench.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t bench_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

double bench_median_us(int64_t *samples, size_t n)
{
    qsort(samples, n, sizeof(*samples), compare);
    if (n % 2)
        return (double)samples[n / 2] / 1000.0;
    return (double)(samples[n / 2 - 1] + samples[n / 2]) / 2000.0;
}

long bench_count(const char *what, const char *text, long max)
{
    size_t digits = strspn(text, "0123456789");
    long value;

    errno = 0;
    value = strtol(text, NULL, 10);
    if (digits == 0 || text[digits] != '\0' || errno != 0 || value < 1 || value > max)
        errx(2, "%s '%s': not a number from 1 to %ld", what, text, max);
    return value;
}

int64_t *bench_samples(size_t n)
{
    int64_t *samples = calloc(n, sizeof(*samples));

    if (!samples)
        err(1, "memory for %zu samples", n);
    return samples;
}
