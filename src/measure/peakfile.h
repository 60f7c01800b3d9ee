/* The peak file: what earlier starts measured, a line a label.
 *
 *     fdfit-peak 1
 *     default need=127 bound=128 observed=86412 at=1764549000 by=python2.7
 *     peak-load need=210 bound=256 observed=60 at=1764549100 by=python2.7 how=measured
 *     end 2
 *
 * need: the highest descriptor number seen in one process + 1; bound: the largest FDSize; observed: seconds;
 * at: when the need was seen, in seconds since 1970. Fields that this version does not know are passed over.
 * The last line counts the records, since the file is written without fsync: a file that was cut off by a
 * crash has no such line. */
#ifndef FDFIT_MEASURE_PEAKFILE_H
#define FDFIT_MEASURE_PEAKFILE_H

#include "base/text.h"

#include <stdbool.h>

#define PEAKFILE_MAX_BYTES   (16 * 1024)
#define PEAKFILE_MAX_RECORDS 32
#define PEAKFILE_LABEL       64
#define PEAKFILE_NAME        32

struct peak_record {
    char label[PEAKFILE_LABEL + 1];
    char by[PEAKFILE_NAME + 1]; /* the program that had the need, or "" */
    uint64_t need;
    uint64_t bound;
    uint64_t observed; /* seconds */
    uint64_t at;       /* seconds since 1970, or 0 */
    bool measured;     /* by fdfitctl measure: counts at once */
};

struct peak_file {
    struct peak_record record[PEAKFILE_MAX_RECORDS];
    size_t count;
};

/** What a start needs to know of it: the largest need and table over all labels. Times in milliseconds. */
struct peak_summary {
    uint64_t need;
    uint64_t bound;
    uint64_t since;     /* `at` of the largest need, seconds since 1970 */
    bool counts;        /* a record was measured, or observed for at least settle */
    uint64_t remaining; /* until the first one counts */
};

/** Parse the n bytes of a peak file.
 *  Returns 0, or -EINVAL with reterr saying what is wrong, without the file's name. */
int peakfile_parse(const char *bytes, size_t n, struct peak_file *ret, struct text *reterr);

/** Read and parse the peak file at path: a regular file of at most PEAKFILE_MAX_BYTES, else an error.
 *  Returns 0, -ENOENT (no file yet; reterr untouched), or a negative error with reterr. */
int peakfile_read(const char *path, struct peak_file *ret, struct text *reterr);

/** Sum the records up under a settle time in milliseconds. False when there is no record. */
bool peakfile_summary(const struct peak_file *file, uint64_t settle, struct peak_summary *ret);

#endif
