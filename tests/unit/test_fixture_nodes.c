#include "suite.h"

#include "base/err.h"
#include "inspect/engine.h"
#include "inspect/limits_conf.h"
#include "inspect/sysctl.h"

#include <stdio.h>

/* What the nodes below tests/data give, each made small from files as they are shipped. */

static struct root open_node(const char *name)
{
    static char path[1024];
    char reason[TEXT_LINE];
    TEXT_UNTOUCHED(why, reason);
    struct root root;

    snprintf(path, sizeof(path), "%s/root-%s", FDFIT_TEST_DATA, name);
    ck_assert_int_eq(root_open(path, &root, &why), 0);
    ck_assert_str_eq(reason, UNTOUCHED);
    return root;
}

static void assert_assignment(const struct assignment *a, const char *file, unsigned line, uint64_t soft,
                              uint64_t hard)
{
    ck_assert_ptr_nonnull(a);
    ck_assert_str_eq(a->file, file);
    ck_assert_uint_eq(a->line, line);
    ck_assert_uint_eq(a->limit.soft, soft);
    ck_assert_uint_eq(a->limit.hard, hard);
}

static void assert_engine(const char *node, enum engine_kind kind, const struct engine_command *command,
                          size_t count, const char *file, unsigned line, uint64_t soft, uint64_t hard)
{
    struct root root = open_node(node);
    struct assignments list = {0};
    struct problems problems = {0};

    ck_assert_int_eq(engine_read_limits(&root, kind, command, &list, &problems), 0);
    ck_assert_uint_eq(problems.count, 0);
    ck_assert_uint_eq(list.count, count);
    assert_assignment(assignments_last(&list), file, line, soft, hard);
    assignments_deinit(&list);
    root_close(&root);
}

START_TEST(docker_ulimits)
{
    static const struct engine_command command = {
        "/usr/bin/dockerd -H fd:// --containerd=/run/containerd/containerd.sock",
        "/usr/lib/systemd/system/docker.service", 10};

    assert_engine("docker-ulimits", ENGINE_DOCKER, &command, 1, "/etc/docker/daemon.json", 5, 32768, 65536);
}
END_TEST

START_TEST(crio)
{
    static const struct engine_command command = {"/usr/bin/crio $CRIO_CONFIG_OPTIONS $CRIO_RUNTIME_OPTIONS",
                                                  "/usr/lib/systemd/system/crio.service", 12};

    assert_engine("crio", ENGINE_CRIO, &command, 2, "/etc/crio/crio.conf.d/10-ulimits.conf", 2, 65536,
                  1048576);
}
END_TEST

START_TEST(podman)
{
    assert_engine("podman", ENGINE_PODMAN, NULL, 2, "/etc/containers/containers.conf.d/50-nofile.conf", 3,
                  4096, 65535);
}
END_TEST

static struct limits_conf read_user(const char *name)
{
    struct root root = open_node("limits-conf");
    struct problems problems = {0};
    struct limits_user user;
    struct limits_conf conf;

    ck_assert_int_eq(limits_user_read(&root, name, 0, &user), 0);
    ck_assert_int_eq(limits_conf_read(&root, &user, &conf, &problems), 0);
    ck_assert_uint_eq(problems.count, 0);
    limits_user_deinit(&user);
    root_close(&root);
    return conf;
}

START_TEST(limits_conf)
{
    static const char conf[] = "/etc/security/limits.conf";
    struct limits_conf anna = read_user("anna"), jobs = read_user("jobs"), backup = read_user("backup"),
                       root = read_user("root");

    assert_assignment(assignments_last(&anna.soft), "/etc/security/limits.d/90-nofile.conf", 2, 524288,
                      524288);
    assert_assignment(assignments_last(&anna.hard), conf, 8, 1048576, 1048576);
    assert_assignment(assignments_last(&jobs.soft), conf, 9, 8192, 8192);
    assert_assignment(assignments_last(&jobs.hard), conf, 9, 8192, 8192);
    assert_assignment(assignments_last(&backup.hard), conf, 10, UINT64_MAX, UINT64_MAX);
    ck_assert_ptr_null(assignments_last(&root.soft));
    assert_assignment(assignments_last(&root.hard), "/etc/security/limits.d/95-root.conf", 1, 100000, 100000);
    limits_conf_deinit(&anna);
    limits_conf_deinit(&jobs);
    limits_conf_deinit(&backup);
    limits_conf_deinit(&root);
}
END_TEST

START_TEST(sysctls)
{
    struct root root = open_node("limits-conf");
    struct problems problems = {0};
    struct sysctl sysctl;

    ck_assert_int_eq(sysctl_read(&root, SYSCTL_NR_OPEN, &sysctl, &problems), 0);
    ck_assert_uint_eq(sysctl.files.count, 2);
    assert_assignment(assignments_last(&sysctl.files), "/etc/sysctl.d/90-files.conf", 4, 2097152, 2097152);
    sysctl_deinit(&sysctl);
    ck_assert_int_eq(sysctl_read(&root, SYSCTL_FILE_MAX, &sysctl, &problems), 0);
    assert_assignment(assignments_last(&sysctl.files), "/etc/sysctl.d/90-files.conf", 2, 2097152, 2097152);
    sysctl_deinit(&sysctl);
    ck_assert_uint_eq(problems.count, 0);
    root_close(&root);
}
END_TEST

SUITE("fixture_nodes", docker_ulimits, crio, podman, limits_conf, sysctls)
