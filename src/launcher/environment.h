/* The workload's environment, as the array that execve(2) takes. */
#ifndef FDFIT_LAUNCHER_ENVIRONMENT_H
#define FDFIT_LAUNCHER_ENVIRONMENT_H

/** The value of a variable, pointing into the environment, or NULL. */
const char *environment_get(char *const *environment, const char *name);

#endif
