#include "suite.h"

#include "inspect/cgroup.h"

#define ID "4f1c2a9be3d05768c1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708"

struct line {
    const char *text;
    enum container_engine engine;
    const char *id, *pod, *unit, *inner;
};

/* As they stand on nodes; the ids are made up. */
static const struct line lines[] = {
    {"0::/", CONTAINER_NONE, "", "", "", ""},
    {"0::/init.scope", CONTAINER_NONE, "", "", "init.scope", ""},
    {"0::/system.slice/ssh.service", CONTAINER_NONE, "", "", "ssh.service", ""},
    {"0::/system.slice/system-getty.slice/getty@tty1.service", CONTAINER_NONE, "", "", "getty@tty1.service",
     ""},
    {"0::/system.slice/system-serial\\x2dgetty.slice/serial-getty@ttyS0.service", CONTAINER_NONE, "", "",
     "serial-getty@ttyS0.service", ""},
    {"0::/system.slice/dev-disk-by\\x2duuid-1.swap", CONTAINER_NONE, "", "", "dev-disk-by\\x2duuid-1.swap",
     ""},
    {"0::/system.slice/_cpu.service", CONTAINER_NONE, "", "", "cpu.service", ""},
    {"0::/user.slice/user-1000.slice/session-3.scope", CONTAINER_NONE, "", "", "session-3.scope", ""},
    {"0::/user.slice/user-1000.slice/user@1000.service/app.slice/app@x.service", CONTAINER_NONE, "", "",
     "user@1000.service", "app@x.service"},
    {"0::/system.slice/docker-" ID ".scope", CONTAINER_DOCKER, ID, "", "docker-" ID ".scope", ""},
    {"0::/system.slice/docker-" ID ".scope/system.slice/nginx.service", CONTAINER_DOCKER, ID, "",
     "docker-" ID ".scope", "nginx.service"},
    {"11:pids:/docker/" ID "\n1:name=systemd:/docker/" ID, CONTAINER_DOCKER, ID, "", "", ""},
    {"1:name=systemd:/docker/aa/docker/" ID, CONTAINER_DOCKER, ID, "", "", ""},
    {"0::/system.slice/docker-gc.service", CONTAINER_NONE, "", "", "docker-gc.service", ""},
    {"0::/system.slice/docker.service", CONTAINER_NONE, "", "", "docker.service", ""},
    {"0::/system.slice/docker.service/moby/b7", CONTAINER_DOCKER, "b7", "", "docker.service", ""},
    {"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1b_2c.slice/cri-containerd-" ID
     ".scope",
     CONTAINER_CONTAINERD, ID, "1b-2c", "cri-containerd-" ID ".scope", ""},
    {"0::/kubepods.slice/kubepods-pod1b_2c.slice/crio-" ID ".scope/container", CONTAINER_CRIO, ID, "1b-2c",
     "crio-" ID ".scope", ""},
    {"0::/kubepods.slice/kubepods-pod1b_2c.slice/crio-conmon-" ID ".scope", CONTAINER_NONE, "", "",
     "crio-conmon-" ID ".scope", ""},
    {"4:pids:/kubepods/besteffort/pod1b-2c/" ID, CONTAINER_KUBERNETES, ID, "1b-2c", "", ""},
    {"4:pids:/kubepods/pod1b-2c/" ID "\n1:name=systemd:/system.slice/k3s.service", CONTAINER_KUBERNETES, ID,
     "1b-2c", "k3s.service", ""},
    {"4:pids:/kubepods/burstable/pod1b-2c/crio-" ID, CONTAINER_CRIO, ID, "1b-2c", "", ""},
    {"0::/system.slice/containerd.service/kubepods-burstable-pod1b_2c.slice:cri-containerd:" ID,
     CONTAINER_CONTAINERD, ID, "1b-2c", "containerd.service", ""},
    {"0::/machine.slice/libpod-" ID ".scope/container", CONTAINER_PODMAN, ID, "", "libpod-" ID ".scope", ""},
    {"0::/machine.slice/libpod-conmon-" ID ".scope", CONTAINER_NONE, "", "", "libpod-conmon-" ID ".scope",
     ""},
    {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
     CONTAINER_PODMAN, ID, "", "user@1000.service", ""},
    {"4:pids:/libpod_parent/libpod-" ID, CONTAINER_PODMAN, ID, "", "", ""},
    {"0::/default/web", CONTAINER_CONTAINERD, "web", "", "", ""},
    {"0::/k8s.io/" ID, CONTAINER_CONTAINERD, ID, "", "", ""},
    {"0::/system.slice/runc-box.scope", CONTAINER_RUNC, "box", "", "runc-box.scope", ""},
    {"0::/lxc.payload.web", CONTAINER_LXC, "web", "", "", ""},
    {"0::/lxc.monitor.web", CONTAINER_NONE, "", "", "", ""},
    {"4:pids:/lxc/web/system.slice/ssh.service", CONTAINER_LXC, "web", "", "", "ssh.service"},
    {"0::/machine.slice/machine-deb\\x2d12.scope/payload/init.scope", CONTAINER_NSPAWN, "deb\\x2d12", "",
     "machine-deb\\x2d12.scope", "init.scope"},
    {"0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", CONTAINER_NONE, "", "",
     "machine-qemu\\x2d1\\x2dvm.scope", ""},
    {"3:cpu:/actions_job/" ID, CONTAINER_OTHER, ID, "", "", ""},
    {"0::/../../" ID, CONTAINER_OTHER, ID, "", "", ""},
    /* Hybrid: the second hierarchy is systemd's, the first knows no more of the process. */
    {"12:pids:/\n1:name=systemd:/system.slice/x.service\n0::/system.slice/y.service", CONTAINER_NONE, "", "",
     "x.service", ""},
    {"0::/\n1:name=systemd:/\n7:pids:/docker/" ID, CONTAINER_DOCKER, ID, "", "", ""},
    /* A path may hold colons. */
    {"0::/system.slice/a:b.service", CONTAINER_NONE, "", "", "a:b.service", ""},
};

START_TEST(each_engine_is_known)
{
    for (size_t i = 0; i < COUNT(lines); i++) {
        const struct line *line = &lines[i];
        struct cgroup of;

        cgroup_parse(line->text, strlen(line->text), &of);
        ck_assert_msg(of.engine == line->engine, "%s: engine %s", line->text,
                      container_engine_name(of.engine));
        ck_assert_msg(strcmp(of.id, line->id) == 0, "%s: id %s", line->text, of.id);
        ck_assert_msg(strcmp(of.pod, line->pod) == 0, "%s: pod %s", line->text, of.pod);
        ck_assert_msg(strcmp(of.unit, line->unit) == 0, "%s: unit %s", line->text, of.unit);
        ck_assert_msg(strcmp(of.inner, line->inner) == 0, "%s: inner %s", line->text, of.inner);
    }
}
END_TEST

START_TEST(what_is_no_cgroup_says_nothing)
{
    static const char *const texts[] = {"",          "\n\n",          "x",
                                        "0:",        "0::",           ":::",
                                        "/docker/a", "0::/docker/\n", "0::/docker-.scope",
                                        "0::/a:b:c", "0::/a::",       "0::/.scope/.."};

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct cgroup of;

        cgroup_parse(texts[i], strlen(texts[i]), &of);
        ck_assert_msg(of.engine == CONTAINER_NONE && !of.id[0] && !of.pod[0], "%s: %s", texts[i], of.id);
    }
}
END_TEST

START_TEST(a_name_too_long_is_left_out)
{
    char text[1024] = "0::/docker/";
    struct cgroup of;

    memset(text + strlen(text), 'a', 300);
    cgroup_parse(text, strlen(text), &of);
    ck_assert_int_eq(of.engine, CONTAINER_NONE);
}
END_TEST

SUITE("cgroup", each_engine_is_known, what_is_no_cgroup_says_nothing, a_name_too_long_is_left_out)
