/* The peak file: what earlier starts measured, a line a label.
 *
 *     fdfit-peak 1
 *     default need=127 bound=128 observed=86412 at=1764549000 by=python2.7
 *     peak-load need=210 bound=256 observed=60 at=1764549100 by=python2.7 how=measured
 *     end 2
 *
 * need: the highest descriptor number seen in one process + 1; bound: the largest FDSize; observed: seconds;
 * at: when the need was seen, in seconds since 1970. The last line counts the records, since the file is
 * written without fsync: a file that was cut off by a crash has no such line.
 *
 * Fields that this version does not know are passed over, and are lost when it rewrites the file: only hints
 * may be added under version 1. What must not be lost makes version 2, which this version neither reads nor
 * replaces.
 */
#ifndef FDFIT_MEASURE_PEAKFILE_H
#define FDFIT_MEASURE_PEAKFILE_H

#include "measure/place.h"

#include <stdbool.h>
#include <stdint.h>

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
 *  Returns 0; -EBADMSG (a peak file of ours, but torn or damaged) or -EINVAL (another file, or of a later
 * version), with reterr saying what is wrong, without the file's name. */
int peakfile_parse(const char *bytes, size_t n, struct peak_file *ret, struct text *reterr);

/** Read and parse the peak file at path: a regular file of at most PEAKFILE_MAX_BYTES, else an error.
 *  Returns 0, -ENOENT (no file yet; reterr untouched), or a negative error with reterr. */
int peakfile_read(const char *path, struct peak_file *ret, struct text *reterr);

#define PEAKFILE_FULL 2 /* PEAKFILE_MAX_RECORDS other labels are in the file */

/** Merge what was measured into the record of its label. need and bound never get smaller (by and at go with
 * the need), observed is added up, measured stays. With reset the record is replaced. Returns 0 or
 * PEAKFILE_FULL. */
int peakfile_merge(struct peak_file *file, const struct peak_record *add, bool reset);

/** Append the file's bytes: the inverse of peakfile_parse. Blanks, controls and bytes above 0x7e in a label
 * or a name become '_', since the file is read by people and by parsers of lines. */
void peakfile_format(const struct peak_file *file, struct text *t);

#define PEAKFILE_BUSY PLACE_BUSY /* another writer has the lock: nothing was written, try again later */

/** Read the peak file at place under its lock, merge, and replace it: two writers don't lose each other's
 * records. add->observed is what was observed since the last call that returned 0. A torn file is replaced;
 * a foreign one, or one of a later version, is not.
 *  Returns 0, PEAKFILE_BUSY, PEAKFILE_FULL, or a negative error with reterr, which has no file name. */
int peakfile_update(const struct place *place, const struct peak_record *add, bool reset,
                    struct text *reterr);

/** Sum the records up under a settle time in milliseconds. False when there is no record. */
bool peakfile_summary(const struct peak_file *file, uint64_t settle, struct peak_summary *ret);

#endif
