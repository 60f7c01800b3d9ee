/* The two keys that are lists of pairs: rewrite = TERM:INT,HUP:0 and exit-map = 143:0. */
#ifndef FDFIT_POLICY_MAPS_H
#define FDFIT_POLICY_MAPS_H

#include "base/signals.h"

/** What each signal is passed on as: itself, another one, or 0 for dropped. Index 0 is not used. */
struct signal_map {
    uint8_t to[SIGNAL_MAX + 1];
};

/** What each exit status is turned into; death by signal N stands at 128 + N. */
struct exit_map {
    uint8_t to[256];
    bool mapped[256];
};

/** Read a list of FROM:TO signals (names or numbers; TO may be 0) over the identity. A NULL list is the
 * identity. KILL and STOP never reach a process as signals, so they can't be rewritten; they can be sent.
 *  Returns 0, or -EINVAL with reterr; then *ret is unchanged. */
int signal_map_parse(const char *list, struct signal_map *ret, struct text *reterr);

/** Read a list of FROM:TO statuses, 0 to 255. A NULL list maps nothing. Returns 0, or -EINVAL with reterr. */
int exit_map_parse(const char *list, struct exit_map *ret, struct text *reterr);

#endif
