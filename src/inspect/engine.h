/* What an engine's own configuration gives its containers. Where it gives nothing, they inherit the limit of
 * the engine (containerd, k3s: of its shim, which inherits it), except with podman, which then takes 1048576,
 * or the highest that it may set (podman-run(1), --ulimit); its unlimited is the highest that it may set,
 * too. What sets the limit of one container alone (an option of docker run, a client of containerd) is in
 * that container's own configuration: inspect/oci.h. */
#ifndef FDFIT_INSPECT_ENGINE_H
#define FDFIT_INSPECT_ENGINE_H

#include "inspect/assignment.h"
#include "inspect/problems.h"
#include "inspect/root.h"

enum engine_kind {
    ENGINE_DOCKER,     /* /etc/docker/daemon.json, default-ulimits; dockerd --default-ulimit */
    ENGINE_CONTAINERD, /* /etc/containerd/config.toml and its imports: base_runtime_spec of a runtime */
    ENGINE_K3S,        /* the same that k3s or RKE2 writes for its own containerd */
    ENGINE_CRIO,       /* crio.conf, crio.conf.d: default_ulimits; crio --default-ulimits */
    ENGINE_PODMAN      /* containers.conf, containers.conf.d: default_ulimits */
};

/** How an engine is started, from its unit. Its options may name another file, or the limit itself. A
 * variable is looked up in the file that the packages' units name (/etc/default/docker,
 * /etc/sysconfig/docker, the same of crio); what Environment= of the unit sets is not known here. */
struct engine_command {
    const char *exec; /* as in ExecStart=; NULL: not known, and its options are left out */
    const char *file; /* where it stands, below the root; not NULL beside exec */
    unsigned line;    /* 0: not known */
};

/** Append what the configuration sets, in the order of effect: of those in force the last one counts. Of
 *  containerd's runtimes only the default one is in force; another's is overridden, and its `problem` names
 * it. What the engine refuses is ASSIGNMENT_BAD. What could not be read, or keeps the engine from starting,
 * is added to `problems`. A file that is not there sets nothing. Returns 0 or -ENOMEM. */
int engine_read_limits(const struct root *root, enum engine_kind kind, const struct engine_command *command,
                       struct assignments *ret, struct problems *problems);

/** The same of podman for a user without privileges, whose own files come last. home: an absolute path below
 *  the root. */
int engine_read_user_podman(const struct root *root, const char *home, struct assignments *ret,
                            struct problems *problems);

#endif
