/* The names are those that the engines give: runc libcontainer/cgroups/systemd ("PREFIX-ID.scope",
 * "SLICE:PREFIX:ID"), kubelet's cgroup manager ("kubepods-burstable-podUID.slice", "/kubepods/podUID"),
 * Docker, podman ("libpod-ID"), LXC ("lxc.payload.NAME"). */
#include "inspect/cgroup.h"

#include "base/text.h"

#include <stdbool.h>
#include <string.h>

struct part {
    const char *at;
    size_t n;
};

struct prefix {
    const char *text;
    enum container_engine engine;
};

/* Before an id, with ".scope" behind or (cgroupfs) without. */
static const struct prefix prefixes[] = {
    {"docker-", CONTAINER_DOCKER},      {"cri-containerd-", CONTAINER_CONTAINERD},
    {"crio-", CONTAINER_CRIO},          {"libpod-", CONTAINER_PODMAN},
    {"runc-", CONTAINER_RUNC},          {"crun-", CONTAINER_RUNC},
    {"nerdctl-", CONTAINER_CONTAINERD},
};

/* A folder whose entries are ids of any form: /docker/ID; /NAMESPACE/ID of containerd. */
static const struct prefix folders[] = {
    {"docker", CONTAINER_DOCKER},
    {"default", CONTAINER_CONTAINERD},
    {"k8s.io", CONTAINER_CONTAINERD},
    {"moby", CONTAINER_DOCKER},
    {"lxc", CONTAINER_LXC},
    {"buildkit", CONTAINER_CONTAINERD},
    {"libpod_parent", CONTAINER_PODMAN},
};

static bool begins(struct part p, const char *text)
{
    return p.n >= strlen(text) && memcmp(p.at, text, strlen(text)) == 0;
}

static bool ends(struct part p, const char *text)
{
    return p.n >= strlen(text) && memcmp(p.at + p.n - strlen(text), text, strlen(text)) == 0;
}

static bool is(struct part p, const char *text)
{
    return p.n == strlen(text) && memcmp(p.at, text, p.n) == 0;
}

static struct part behind(struct part p, size_t n)
{
    return (struct part){p.at + n, p.n - n};
}

static bool keep(struct part p, char ret[CGROUP_NAME])
{
    if (p.n == 0 || p.n >= CGROUP_NAME || memchr(p.at, '\0', p.n))
        return false;
    memcpy(ret, p.at, p.n);
    ret[p.n] = '\0';
    return true;
}

static bool is_hex(struct part p)
{
    for (size_t i = 0; i < p.n; i++)
        if (!strchr("0123456789abcdef", p.at[i]) || p.at[i] == '\0')
            return false;
    return true;
}

/* The id of Docker, containerd's CRI, CRI-O and podman: 32 bytes in hex. */
static bool is_id(struct part p)
{
    return p.n == 64 && is_hex(p);
}

/* A name under which some systemd keeps processes. */
static bool is_unit(struct part p)
{
    return ends(p, ".service") || ends(p, ".scope") || ends(p, ".socket") || ends(p, ".mount") ||
           ends(p, ".swap");
}

/* One path on its way down. */
struct walk {
    struct cgroup *ret;
    struct part last; /* the part above */
    bool deep;        /* below a unit's own folder, or a container's: names there are not the system's */
};

static void found(struct walk *w, enum container_engine engine, struct part id)
{
    if (!keep(id, w->ret->id))
        return;
    w->ret->engine = engine;
    w->ret->inner[0] = '\0'; /* of a systemd outside this container */
}

/* "podUID", "kubepods-burstable-podUID.slice", where systemd's dashes are underscores. */
static bool take_pod(struct walk *w, struct part p)
{
    if (ends(p, ".slice") && begins(p, "kubepods")) {
        const char *at = text_find(p.at, p.n, "-pod");

        if (!at)
            return false;
        p.n -= strlen(".slice");
        p = behind(p, (size_t)(at - p.at) + strlen("-pod"));
    } else if (begins(p, "pod") && (begins(w->last, "kubepods") || is(w->last, "burstable") ||
                                    is(w->last, "besteffort") || is(w->last, "guaranteed"))) {
        p = behind(p, strlen("pod"));
    } else {
        return false;
    }
    if (!keep(p, w->ret->pod))
        return false;
    for (char *c = w->ret->pod; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return true;
}

/* "kubepods-burstable-podUID.slice:cri-containerd:ID": meant for systemd, and used as a path. */
static bool take_colons(struct walk *w, struct part p)
{
    const char *first = memchr(p.at, ':', p.n), *second;
    struct part slice, engine;

    if (!first)
        return false;
    slice = (struct part){p.at, (size_t)(first - p.at)};
    p = behind(p, slice.n + 1);
    second = memchr(p.at, ':', p.n);
    if (!second)
        return false;
    engine = (struct part){p.at, (size_t)(second - p.at)};
    p = behind(p, engine.n + 1);
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (engine.n + 1 == strlen(prefixes[i].text) && memcmp(prefixes[i].text, engine.at, engine.n) == 0) {
            take_pod(w, slice);
            found(w, prefixes[i].engine, p);
            return true;
        }
    return false;
}

static bool take_prefix(struct walk *w, struct part p)
{
    if (ends(p, ".scope"))
        p.n -= strlen(".scope");
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        struct part id = p;

        if (!begins(p, prefixes[i].text))
            continue;
        id = behind(p, strlen(prefixes[i].text));
        /* conmon stands beside its container, and not in it. */
        if (begins(id, "conmon-") || id.n == 0)
            return false;
        found(w, prefixes[i].engine, id);
        return true;
    }
    if (begins(p, "lxc.payload.")) {
        found(w, CONTAINER_LXC, behind(p, strlen("lxc.payload.")));
        return true;
    }
    return false;
}

static bool take_machine(struct walk *w, struct part p)
{
    if (!is(w->last, "machine.slice") || !begins(p, "machine-") || !ends(p, ".scope") ||
        begins(p, "machine-qemu"))
        return false;
    p.n -= strlen(".scope");
    found(w, CONTAINER_NSPAWN, behind(p, strlen("machine-")));
    return true;
}

static bool take_container(struct walk *w, struct part p)
{
    if (take_colons(w, p) || take_machine(w, p))
        return true;
    /* A service of the engine's name ("docker-gc.service") is none of its containers. */
    if (!ends(p, ".service") && !ends(p, ".socket") && !ends(p, ".slice") && take_prefix(w, p))
        return true;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        if (is(w->last, folders[i].text) && !is_unit(p) && !ends(p, ".slice")) {
            found(w, folders[i].engine, p);
            return true;
        }
    if (!is_id(p))
        return false;
    found(w, w->ret->pod[0] ? CONTAINER_KUBERNETES : CONTAINER_OTHER, p);
    return true;
}

/* systemd puts "_" before a name that would look like one of the kernel's (cg_escape). */
static void take_unit(struct walk *w, struct part p)
{
    if (begins(p, "_"))
        p = behind(p, 1);
    if (!is_unit(p))
        return;
    keep(p, w->deep || w->ret->unit[0] ? w->ret->inner : w->ret->unit);
}

static void take_part(struct walk *w, struct part p)
{
    bool container;

    if (is(p, "..") || is(p, "."))
        return;
    container = take_container(w, p);
    if (!container)
        take_pod(w, p);
    if (!container || !w->deep)
        take_unit(w, p);
    w->deep = w->deep || container || !ends(p, ".slice");
    w->last = p;
}

static void parse_path(struct part path, struct cgroup *ret)
{
    struct walk w = {.ret = ret, .last = {"", 0}};

    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < path.n; i++) {
        size_t from = i;

        while (i < path.n && path.at[i] != '/')
            i++;
        if (i > from)
            take_part(&w, (struct part){path.at + from, i - from});
    }
}

/* "NUMBER:CONTROLLERS:PATH". Returns how far the line goes before others: 0 is no such line. */
static unsigned split(struct part line, struct part *ret_path)
{
    const char *first = memchr(line.at, ':', line.n), *second;
    struct part number, names;

    if (!first)
        return 0;
    number = (struct part){line.at, (size_t)(first - line.at)};
    line = behind(line, number.n + 1);
    second = memchr(line.at, ':', line.n);
    if (!second)
        return 0;
    names = (struct part){line.at, (size_t)(second - line.at)};
    *ret_path = behind(line, names.n + 1);
    return is(names, "name=systemd") ? 3 : names.n == 0 && is(number, "0") ? 2 : 1;
}

/* What a line says of the container and of the unit, ranked apart: in the one hierarchy a container may have
 * a folder of its own, and in the other not. */
static void take_line(struct part line, unsigned *container_rank, unsigned *unit_rank, struct cgroup *ret)
{
    struct part path;
    struct cgroup of;
    unsigned rank = split(line, &path);

    if (rank == 0)
        return;
    parse_path(path, &of);
    if (of.engine != CONTAINER_NONE && (rank > *container_rank || ret->engine == CONTAINER_OTHER)) {
        *container_rank = rank;
        ret->engine = of.engine;
        memcpy(ret->id, of.id, sizeof(ret->id));
        memcpy(ret->pod, of.pod, sizeof(ret->pod));
    }
    if ((of.unit[0] || of.inner[0]) && rank > *unit_rank) {
        *unit_rank = rank;
        memcpy(ret->unit, of.unit, sizeof(ret->unit));
        memcpy(ret->inner, of.inner, sizeof(ret->inner));
    }
}

void cgroup_parse(const char *bytes, size_t n, struct cgroup *ret)
{
    unsigned container_rank = 0, unit_rank = 0;

    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < n; i++) {
        const char *end = memchr(bytes + i, '\n', n - i);
        size_t length = end ? (size_t)(end - bytes) - i : n - i;

        take_line((struct part){bytes + i, length}, &container_rank, &unit_rank, ret);
        i += length;
    }
}

const char *container_engine_name(enum container_engine engine)
{
    static const char *const names[] = {
        [CONTAINER_NONE] = "",
        [CONTAINER_DOCKER] = "docker",
        [CONTAINER_CONTAINERD] = "containerd",
        [CONTAINER_CRIO] = "cri-o",
        [CONTAINER_PODMAN] = "podman",
        [CONTAINER_RUNC] = "runc",
        [CONTAINER_LXC] = "lxc",
        [CONTAINER_NSPAWN] = "systemd-nspawn",
        [CONTAINER_KUBERNETES] = "kubernetes",
        [CONTAINER_OTHER] = "container",
    };

    return names[engine];
}
