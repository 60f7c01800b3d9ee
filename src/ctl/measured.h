/* What fdfitctl measure has found, and how it is written and shown. */
#ifndef FDFIT_CTL_MEASURED_H
#define FDFIT_CTL_MEASURED_H

#include "ctl/out.h"
#include "ctl/targets.h"
#include "measure/peak.h"
#include "measure/place.h"

enum ending { ENDING_NOT, ENDING_TIME, ENDING_SIGNAL, ENDING_PROCESSES };

struct measured {
    struct peak_result result;
    enum ending ending;
    bool denied;    /* at some time there was a process whose highest number may not be read */
    bool untracked; /* at some time there were more processes than the meter remembers */
    uint64_t need;  /* result.need; with `denied` the bound, which is all that is known then */
    uint64_t current;
    uint64_t at; /* when the need was first seen, seconds since 1970 */
};

/** Where it went, for what is shown: both NULL without a peak file. */
struct measured_words {
    const char *label, *peak_file;
};

/** Take the result over from the meter. now is in the meter's clock, clock in seconds since 1970. */
void measured_finish(struct measured *m, struct peak_meter *meter, uint64_t now, uint64_t clock);

/** Merge into the line `label` of the peak file: how=measured. Another writer is waited for, some seconds.
 *  Returns 0 or a negative error with reterr. */
int measured_write(const struct measured *m, const struct place *place, const char *path, const char *label,
                   struct text *reterr);

/** Print tables: what was measured, and the processes that are there now. */
void measured_print(const struct measured *m, struct targets *targets, const struct measured_words *words,
                    struct out *out);

/** The same as JSON; NULL when there is no memory. */
json_t *measured_json(const struct measured *m, struct targets *targets, const struct measured_words *words);

#endif
