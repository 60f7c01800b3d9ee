/* Strict numbers: what strtoull and sscanf let through (signs, blanks, 0x, trailing junk, overflow) is
 * refused. */
#ifndef FDFIT_BASE_NUM_H
#define FDFIT_BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

/** Read the n bytes at s as an unsigned decimal number, digits only.
 *  Returns 0, -EINVAL (empty, or anything but digits) or -ERANGE (above 2^64-1). */
int num_parse(const char *s, size_t n, uint64_t *ret);

/** Read a duration: digits and one unit of ms, s, m, h, d; a bare number is seconds. The result is in
 * milliseconds. Returns 0, -EINVAL or -ERANGE. */
int num_parse_duration(const char *s, size_t n, uint64_t *ret_ms);

/** a + b and a * b that stay at 2^64-1 instead of wrapping. */
uint64_t num_add(uint64_t a, uint64_t b);
uint64_t num_mul(uint64_t a, uint64_t b);

static inline uint64_t num_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t num_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
