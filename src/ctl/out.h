/* All that fdfitctl shows to people and programs: lines, tables and trees (libsmartcols), JSON (jansson).
 * Nothing else in src/ctl writes to stdout or stderr. */
#ifndef FDFIT_CTL_OUT_H
#define FDFIT_CTL_OUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out {
    bool colours;    /* stdout is a terminal, and NO_COLOR is not set */
    bool live;       /* stderr is a terminal, so a line there may change */
    bool live_shown; /* one stands there now */
    int error;       /* the first error of writing to stdout, as a positive errno */
};

void out_init(struct out *out);

/** One line on stderr, "fdfitctl: ..." and "fdfitctl: note: ...". Bytes that somebody else chose are to be
 * escaped by the caller (text_escaped). */
void out_error(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_note(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Plain text on stdout. */
void out_print(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A line on a terminal's stderr that takes the place of the last one; nothing where there is none. The next
 * line of any other kind wipes it away. */
void out_live(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** JSON on stdout. Takes the reference; NULL (no memory) is an error that out_finish gives. */
void out_json(struct out *out, json_t *json);

/** A number; a limit, which may be "unlimited" (UINT64_MAX); a text of any bytes (what is not UTF-8 is
 * escaped).
 */
json_t *out_json_u64(uint64_t value);
json_t *out_json_limit(uint64_t value);
json_t *out_json_text(const char *text);

/** The column of a table. A table of them ends with a row without a name. */
struct out_column {
    const char *name;
    bool right;
    bool tree;
};

struct out_table;

/** Begin a table; NULL when there is no memory. */
struct out_table *out_table_new(struct out *out, const struct out_column *columns);

/** Add a row below the row `parent` (-1: none), with a cell a column. With `alarm` it is shown in red.
 * Returns its number, or -1 (no memory; out_finish gives it). */
int out_table_row(struct out_table *table, int parent, bool alarm, const char *const *cells);

/** Print, and free. Takes NULL. */
void out_table_print(struct out_table *table);

/** Flush stdout. Returns 0, or -errno of the first thing that could not be written. */
int out_finish(struct out *out);

#endif
