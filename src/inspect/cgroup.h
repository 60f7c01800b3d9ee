/* What the cgroup of a process says of where it belongs: the container, its engine and pod, and the unit of
 * systemd. Pure. */
#ifndef FDFIT_INSPECT_CGROUP_H
#define FDFIT_INSPECT_CGROUP_H

#include <stddef.h>

enum container_engine {
    CONTAINER_NONE,
    CONTAINER_DOCKER,
    CONTAINER_CONTAINERD, /* its CRI plug-in, nerdctl, ctr */
    CONTAINER_CRIO,
    CONTAINER_PODMAN,
    CONTAINER_RUNC, /* runc or crun, called by itself */
    CONTAINER_LXC,  /* LXC, LXD, Incus */
    CONTAINER_NSPAWN,
    CONTAINER_KUBERNETES, /* of a pod; which engine the path does not say (k3s, cgroupfs) */
    CONTAINER_OTHER       /* looks like a container's id, and says no more */
};

#define CGROUP_NAME 256 /* UNIT_NAME_MAX of systemd, and the longest file name */

/** Each text is "" where there is none. Bytes of names that somebody else chose: escape before showing. */
struct cgroup {
    enum container_engine engine;
    char id[CGROUP_NAME];    /* of the innermost container */
    char pod[CGROUP_NAME];   /* the uid of the pod of that container, with dashes */
    char unit[CGROUP_NAME];  /* of the system's manager: service, scope, socket, mount or swap, as systemd
                              * spells it: its "\x2d" stays */
    char inner[CGROUP_NAME]; /* the unit of a manager below that one: a user's, or a systemd in the container
                              */
};

/** Read the n bytes of a /proc/PID/cgroup, of version 1, 2 or both (cgroups(7)). Of the lines that know a
 *  container, and of those that know a unit, the one of systemd's own hierarchy goes first, then that of
 * version 2. */
void cgroup_parse(const char *bytes, size_t n, struct cgroup *ret);

/** The engine's name for people: "docker", "cri-o", "kubernetes"; "" for none. */
const char *container_engine_name(enum container_engine engine);

#endif
