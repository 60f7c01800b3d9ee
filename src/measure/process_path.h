/* What the sources about one process share. */
#ifndef FDFIT_MEASURE_PROCESS_PATH_H
#define FDFIT_MEASURE_PROCESS_PATH_H

#include "base/text.h"
#include "measure/process.h"

/** Room for every path that process_path makes with a file name of up to 20 bytes. */
#define PROCESS_PATH 64

/** Append "PID/file", or "PID/task/TID/file" unless tid is 0. */
void process_path(struct text *t, pid_t pid, pid_t tid, const char *file);

/** The condition that a positive errno of a call below /proc means: PROCESS_GONE, PROCESS_DENIED, or -errno.
 */
int process_condition(int error);

/** What stands behind a key ("\nPPid:") up to the line's end, blanks skipped; NULL: there is no such line. */
const char *process_value(const char *bytes, size_t n, const char *key, size_t *ret_n);

/** process_status of one thread, unless tid is 0. */
int process_thread_status(int proc, pid_t pid, pid_t tid, struct process_status *ret);

#endif
