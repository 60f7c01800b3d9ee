/*
 * What the C programs of this folder share: a clock, a median, and the strict reading of a count.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds. The call cannot fail for this clock (clock_gettime(2)). */
int64_t bench_now(void);

/*
 * The median of n > 0 samples in nanoseconds, as microseconds; the mean of the middle two when n is even.
 * Sorts the samples in place.
 */
double bench_median_us(int64_t *samples, size_t n);

/*
 * The number in text: decimal digits only, 1 to max. Anything else ends the program with status 2 and a line
 * on stderr that names the option `what` and the text.
 */
long bench_count(const char *what, const char *text, long max);

/* An array of n samples, all 0, owned by the caller; ends the program with status 1 when there is no memory.
 */
int64_t *bench_samples(size_t n);

#endif
