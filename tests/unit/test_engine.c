#include "fixture.h"

#include "base/err.h"
#include "inspect/engine.h"

#define BASE_SPEC "/etc/containerd/base.json"

static const char one_base[] =
    "{\"process\": {\n\"rlimits\": [\n{\"type\": \"RLIMIT_NOFILE\", \"soft\": 1024, "
    "\"hard\": 4096}]}}";

struct result {
    struct assignments list;
    struct problems problems;
};

static struct result read_with(const struct fixture *f, enum engine_kind kind, const char *exec)
{
    struct engine_command command = {exec, "/usr/lib/systemd/system/engine.service", 9};
    struct result result = {0};

    ck_assert_int_eq(
        engine_read_limits(&f->root, kind, exec ? &command : NULL, &result.list, &result.problems), 0);
    for (size_t i = 0; i < result.problems.count; i++)
        for (const char *s = result.problems.at[i].text; *s; s++)
            ck_assert(*s >= 0x20 && *s < 0x7f);
    return result;
}

static void free_result(struct result *result)
{
    assignments_deinit(&result->list);
    problems_deinit(&result->problems);
}

/* The one that counts. */
static void assert_in_force(const struct result *result, const char *file, unsigned line, uint64_t soft,
                            uint64_t hard)
{
    const struct assignment *a = assignments_last(&result->list);

    ck_assert_ptr_nonnull(a);
    ck_assert_str_eq(a->file, file);
    ck_assert_uint_eq(a->line, line);
    ck_assert_uint_eq(a->limit.soft, soft);
    ck_assert_uint_eq(a->limit.hard, hard);
}

static void assert_gives(const struct fixture *f, enum engine_kind kind, const char *exec, const char *file,
                         unsigned line, uint64_t soft, uint64_t hard)
{
    struct result result = read_with(f, kind, exec);

    assert_in_force(&result, file, line, soft, hard);
    ck_assert_uint_eq(result.problems.count, 0);
    free_result(&result);
}

static void assert_none(const struct fixture *f, enum engine_kind kind, const char *exec)
{
    struct result result = read_with(f, kind, exec);

    ck_assert_uint_eq(result.list.count + result.problems.count, 0);
    free_result(&result);
}

/* Nothing in force, and one problem at a place, whose text holds a word. */
static void assert_problem(const struct fixture *f, enum engine_kind kind, const char *exec, const char *file,
                           unsigned line, const char *word)
{
    struct result result = read_with(f, kind, exec);

    ck_assert_ptr_null(assignments_last(&result.list));
    ck_assert_uint_eq(result.problems.count, 1);
    ck_assert_str_eq(result.problems.at[0].file, file);
    ck_assert_uint_eq(result.problems.at[0].line, line);
    if (!strstr(result.problems.at[0].text, word))
        ck_abort_msg("%s", result.problems.at[0].text);
    free_result(&result);
}

/* A limit, and one problem of a file. */
static void assert_problem_beside(const struct fixture *f, const char *exec, const char *file)
{
    struct result result = read_with(f, ENGINE_CRIO, exec);

    ck_assert_ptr_nonnull(assignments_last(&result.list));
    ck_assert_uint_eq(result.problems.count, 1);
    ck_assert_str_eq(result.problems.at[0].file, file);
    free_result(&result);
}

START_TEST(no_configuration_sets_nothing)
{
    struct fixture f;

    setup(&f);
    for (enum engine_kind kind = ENGINE_DOCKER; kind <= ENGINE_PODMAN; kind++) {
        assert_none(&f, kind, NULL);
        assert_none(&f, kind, "/usr/bin/engine -H fd:// $OPTIONS");
    }
    teardown(&f);
}
END_TEST

START_TEST(docker_default_ulimits)
{
    static const char path[] = "/etc/docker/daemon.json";
    struct fixture f;
    struct result result;

    setup(&f);
    put_text(
        &f, path,
        "{\n\"log-driver\": \"journald\",\n\"default-ulimits\": {\n \"nproc\": {\"Name\": \"nproc\", "
        "\"Soft\": "
        "1, \"Hard\": 1},\n \"nofile\": {\n  \"Name\": \"nofile\",\n  \"Hard\": 64000, \"Soft\": 32000\n}}}");
    assert_gives(&f, ENGINE_DOCKER, "/usr/bin/dockerd -H fd://", path, 5, 32000, 64000);
    /* Names are compared without their case, and -1 is unlimited. */
    put_text(&f, path, "{\"default-ulimits\": {\"x\": {\"name\": \"NOFILE\", \"soft\": 7, \"HARD\": -1}}}");
    assert_gives(&f, ENGINE_DOCKER, NULL, path, 1, 7, UINT64_MAX);
    put_text(&f, path, "{\"default-ulimits\": {\"nofile\": {\"Soft\": 7, \"Hard\": 8}}}");
    assert_none(&f, ENGINE_DOCKER, NULL);
    put_text(&f, path, "{\"default-ulimits\": null}");
    assert_none(&f, ENGINE_DOCKER, NULL);
    put_text(&f, path, " \n");
    assert_none(&f, ENGINE_DOCKER, NULL);
    put_text(&f, path, "{\n\"default-ulimits\": [1]}");
    assert_problem(&f, ENGINE_DOCKER, NULL, path, 2, "no object");
    put_text(&f, path, "{\n\"default-ulimits\":}");
    assert_problem(&f, ENGINE_DOCKER, NULL, path, 2, "no JSON");
    put_text(&f, path,
             "{\"default-ulimits\": {\n\"nofile\": {\"Name\": \"nofile\", \"Soft\": 1e3, \"Hard\": 8}}}");
    assert_problem(&f, ENGINE_DOCKER, NULL, path, 2, "no whole number");
    result = read_with(&f, ENGINE_DOCKER, NULL);
    ck_assert_int_eq(result.list.at[0].state, ASSIGNMENT_BAD);
    ck_assert_str_eq(result.list.at[0].text, "1e3:8");
    free_result(&result);
    teardown(&f);
}
END_TEST

START_TEST(docker_entries_are_bounded)
{
    char text[4096] = "{\"default-ulimits\": {";
    struct fixture f;

    setup(&f);
    for (int i = 0; i < 65; i++)
        sprintf(text + strlen(text), "%s\"%d\": {\"Name\": \"nofile\"}", i ? "," : "", i);
    strcat(text, "}}");
    put_text(&f, "/etc/docker/daemon.json", text);
    assert_problem(&f, ENGINE_DOCKER, NULL, "/etc/docker/daemon.json", 1, "more than 64");
    teardown(&f);
}
END_TEST

START_TEST(docker_flags)
{
    static const char unit[] = "/usr/lib/systemd/system/engine.service";
    struct fixture f;

    setup(&f);
    assert_gives(&f, ENGINE_DOCKER,
                 "dockerd --default-ulimit nofile=1:2 --default-ulimit=nofile=3:4 -H fd://", unit, 9, 3, 4);
    assert_gives(&f, ENGINE_DOCKER, "dockerd --default-ulimit 'nofile=5' --default-ulimit \"nproc=9\"", unit,
                 9, 5, 5);
    assert_none(&f, ENGINE_DOCKER, "dockerd --default-ulimits=nofile=1 --default-ulimit");
    assert_problem(&f, ENGINE_DOCKER, "dockerd --default-ulimit nofile=9:1", unit, 9, "dockerd refuses it");
    put_text(&f, "/srv/d.json",
             "{\"default-ulimits\": {\"nofile\": {\"Name\": \"nofile\", \"Soft\": 1, \"Hard\": 2}}}");
    assert_gives(&f, ENGINE_DOCKER, "dockerd --config-file=/x --config-file /srv/d.json", "/srv/d.json", 1, 1,
                 2);
    teardown(&f);
}
END_TEST

START_TEST(variables_of_the_command)
{
    static const char unit[] = "/usr/lib/systemd/system/engine.service", file[] = "/etc/sysconfig/docker";
    struct fixture f;

    setup(&f);
    put_text(&f, "/etc/default/docker", "DOCKER_OPTS='--default-ulimit nofile=1:2'\n");
    assert_gives(&f, ENGINE_DOCKER, "dockerd $DOCKER_OPTS -H fd://", "/etc/default/docker", 1, 1, 2);
    assert_none(&f, ENGINE_DOCKER, "dockerd $DOCKER_OPT");
    assert_none(&f, ENGINE_DOCKER, "dockerd ${DOCKER_OPTS} $ ${ $1.2");
    put_text(&f, file,
             "# OPTIONS=\"--default-ulimit nofile=9:9\"\nDAEMON_MAXFILES=1048576\n\n OPTIONS=\"-D \\\n"
             "--default-ulimit nofile=32768:65536\"\nX=1\nDOCKER_OPTS=\nLIMIT=nofile=7:8");
    assert_gives(&f, ENGINE_DOCKER, "dockerd $OPTIONS $DOCKER_OPTS", file, 4, 32768, 65536);
    assert_gives(&f, ENGINE_DOCKER, "dockerd --default-ulimit ${LIMIT}", file, 8, 7, 8);
    assert_gives(&f, ENGINE_DOCKER, "dockerd $OPTIONS --default-ulimit nofile=3:4", unit, 9, 3, 4);
    assert_none(&f, ENGINE_CRIO, "crio $OPTIONS");
    put_text(&f, "/etc/sysconfig/crio", "CRIO_RUNTIME_OPTIONS=--default-ulimits=nofile=5:6\n");
    assert_gives(&f, ENGINE_CRIO, "crio $CRIO_RUNTIME_OPTIONS", "/etc/sysconfig/crio", 1, 5, 6);
    make_folder(&f, "/etc/default/crio");
    assert_problem_beside(&f, "crio $CRIO_RUNTIME_OPTIONS", "/etc/default/crio");
    teardown(&f);
}
END_TEST

START_TEST(docker_refuses_flag_and_file)
{
    static const char path[] = "/etc/docker/daemon.json";
    struct fixture f;
    struct result result;

    setup(&f);
    put_text(&f, path,
             "{\n\"default-ulimits\": {\"nofile\": {\"Name\": \"nofile\", \"Soft\": 1, \"Hard\": 2}}}");
    assert_problem(&f, ENGINE_DOCKER, "dockerd --default-ulimit nproc=1", path, 2,
                   "does not start with both");
    result = read_with(&f, ENGINE_DOCKER, "dockerd --default-ulimit nofile=3");
    ck_assert_uint_eq(result.list.count, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(result.list.at[i].state, ASSIGNMENT_BAD);
        ck_assert_ptr_nonnull(strstr(result.list.at[i].problem, "dockerd does not start"));
    }
    free_result(&result);
    teardown(&f);
}
END_TEST

START_TEST(containerd_of_each_version)
{
    static const char path[] = "/etc/containerd/config.toml";
    static const char *const texts[] = {
        "[plugins.cri.containerd.runtimes.runc]\nbase_runtime_spec = \"/etc/containerd/base.json\"\n",
        "version = 1\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
        "base_runtime_spec = \"/etc/containerd/base.json\"\n",
        "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
        "base_runtime_spec = \"/etc/containerd/base.json\"\n",
        "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n"
        "base_runtime_spec = \"/etc/containerd/base.json\"\n",
        "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\ndefault_runtime_name = \"crun\"\n"
        "runtimes = {crun = {base_runtime_spec = 'etc/containerd/base.json'}}\n",
    };
    struct fixture f;

    setup(&f);
    put_text(&f, BASE_SPEC, one_base);
    for (size_t i = 0; i < COUNT(texts); i++) {
        put_text(&f, path, texts[i]);
        assert_gives(&f, ENGINE_CONTAINERD, "/usr/bin/containerd", BASE_SPEC, 3, 1024, 4096);
    }
    put_text(&f, path,
             "version = 3\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
             "base_runtime_spec = \"/etc/containerd/base.json\"\n");
    assert_none(&f, ENGINE_CONTAINERD, NULL);
    put_text(&f, path,
             "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
             "base_runtime_spec = \"\"\n");
    assert_none(&f, ENGINE_CONTAINERD, NULL);
    put_text(&f, "/srv/c.toml", texts[2]);
    assert_gives(&f, ENGINE_CONTAINERD, "containerd -l debug -c /srv/c.toml", BASE_SPEC, 3, 1024, 4096);
    put_text(&f, "/var/lib/rancher/rke2/agent/etc/containerd/config.toml", texts[3]);
    assert_gives(&f, ENGINE_K3S, NULL, BASE_SPEC, 3, 1024, 4096);
    teardown(&f);
}
END_TEST

START_TEST(containerd_lists_the_other_runtimes)
{
    struct fixture f;
    struct result result;

    setup(&f);
    put_text(&f, BASE_SPEC, one_base);
    put_text(&f, "/etc/containerd/config.toml",
             "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.kata]\n"
             "base_runtime_spec = \"/etc/containerd/base.json\"\n");
    result = read_with(&f, ENGINE_CONTAINERD, NULL);
    ck_assert_uint_eq(result.list.count, 1);
    ck_assert_int_eq(result.list.at[0].state, ASSIGNMENT_OVERRIDDEN);
    ck_assert_str_eq(result.list.at[0].problem, "of the runtime 'kata', which is not the default one");
    free_result(&result);
    teardown(&f);
}
END_TEST

START_TEST(containerd_imports)
{
    static const char path[] = "/etc/containerd/config.toml";
    static const char runc[] = "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n";
    struct fixture f;
    struct result result;
    char text[1024];

    setup(&f);
    put_text(&f, BASE_SPEC, one_base);
    put_text(&f, "/etc/containerd/other.json", "{\"process\": {\"rlimits\": []}}");
    put_text(&f, path, "version = 2\nimports = [\"conf.d/*.toml\", \"/etc/containerd/config.toml\"]\n");
    snprintf(text, sizeof(text), "version = 2\n%sbase_runtime_spec = \"%s\"\n", runc, BASE_SPEC);
    put_text(&f, "/etc/containerd/conf.d/10-a.toml", text);
    put_text(&f, "/etc/containerd/conf.d/20-b.conf", "not TOML");
    make_folder(&f, "/etc/containerd/conf.d/30-c.toml");
    assert_gives(&f, ENGINE_CONTAINERD, NULL, BASE_SPEC, 3, 1024, 4096);

    /* A later section without the key takes it away before 2.0, which is said. */
    snprintf(text, sizeof(text), "version = 2\n%sruntime_type = \"io.containerd.runc.v2\"\n", runc);
    put_text(&f, "/etc/containerd/conf.d/20-b.toml", text);
    assert_problem(&f, ENGINE_CONTAINERD, NULL, "/etc/containerd/conf.d/20-b.toml", 2,
                   "before containerd 2.0");
    result = read_with(&f, ENGINE_CONTAINERD, NULL);
    ck_assert_int_eq(result.list.at[0].state, ASSIGNMENT_OVERRIDDEN);
    free_result(&result);
    put_text(&f, path, "version = 3\nimports = [\"conf.d/*.toml\"]\n");
    assert_gives(&f, ENGINE_CONTAINERD, NULL, BASE_SPEC, 3, 1024, 4096);

    put_text(&f, path, "version = 2\nimports = [\n\"/no.toml\"]\n");
    assert_problem(&f, ENGINE_CONTAINERD, NULL, "/no.toml", 0, "no such file");
    put_text(&f, path, "version = 2\nimports = [\n\"/etc/*/x.toml\"]\n");
    assert_problem(&f, ENGINE_CONTAINERD, NULL, path, 3, "is left out");
    teardown(&f);
}
END_TEST

START_TEST(containerd_base_spec_that_cannot_be_read)
{
    static const char path[] = "/etc/containerd/config.toml";
    struct fixture f;

    setup(&f);
    put_text(&f, path,
             "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
             "base_runtime_spec = \"/etc/containerd/base.json\"\n");
    assert_problem(&f, ENGINE_CONTAINERD, NULL, path, 3, "no container of this runtime starts");
    put_text(&f, BASE_SPEC, "{\n");
    assert_problem(&f, ENGINE_CONTAINERD, NULL, BASE_SPEC, 2, "no JSON");
    put_text(&f, path, "version = \n");
    assert_problem(&f, ENGINE_CONTAINERD, NULL, path, 1, "no TOML");
    link_to(&f, "b", "/srv/a");
    link_to(&f, "a", "/srv/b");
    assert_problem(&f, ENGINE_CONTAINERD, "containerd --config=/srv/a", "/srv/a", 0, "can't be read");
    teardown(&f);
}
END_TEST

START_TEST(crio_files_and_flags)
{
    struct result result;
    struct fixture f;

    setup(&f);
    put_text(&f, "/etc/crio/crio.conf",
             "[crio.runtime]\ndefault_ulimits = [\n\"nproc=1:1\",\n\"nofile=1:2\",\n]\n");
    assert_gives(&f, ENGINE_CRIO, "/usr/bin/crio $CRIO_OPTIONS", "/etc/crio/crio.conf", 4, 1, 2);
    put_text(&f, "/etc/crio/crio.conf.d/20", "[crio]\nruntime.default_ulimits = ['nofile=5:6']\n");
    put_text(&f, "/etc/crio/crio.conf.d/10-x.conf", "[crio.runtime]\ndefault_ulimits = ['nofile=3:4']\n");
    assert_gives(&f, ENGINE_CRIO, NULL, "/etc/crio/crio.conf.d/20", 2, 5, 6);
    assert_gives(&f, ENGINE_CRIO, "crio --default-ulimits nproc=1,nofile=7:8",
                 "/usr/lib/systemd/system/engine.service", 9, 7, 8);
    assert_gives(&f, ENGINE_CRIO, "crio --config-dir=/no", "/etc/crio/crio.conf", 4, 1, 2);
    put_text(&f, "/etc/crio/crio.conf.d/30", "[crio.runtime]\ndefault_ulimits = []\n");
    result = read_with(&f, ENGINE_CRIO, NULL);
    ck_assert_ptr_null(assignments_last(&result.list));
    ck_assert_uint_eq(result.problems.count, 0);
    free_result(&result);
    put_text(&f, "/etc/crio/crio.conf.d/30", "[crio.runtime]\ndefault_ulimits = ['nofile=6:5']\n");
    assert_problem(&f, ENGINE_CRIO, NULL, "/etc/crio/crio.conf.d/30", 2, "crio refuses it");
    put_text(&f, "/etc/crio/crio.conf.d/30", "[crio.runtime]\n\ndefault_ulimits = 'nofile=6:5'\n");
    result = read_with(&f, ENGINE_CRIO, NULL);
    ck_assert_uint_eq(result.problems.at[0].line, 3);
    free_result(&result);
    teardown(&f);
}
END_TEST

START_TEST(podman_files)
{
    static const char list[] = "[containers]\ndefault_ulimits = [\"nofile=%d:%d\"]\n";
    struct result result = {0};
    struct fixture f;
    char text[128];

    setup(&f);
    snprintf(text, sizeof(text), list, 1, 2);
    put_text(&f, "/usr/share/containers/containers.conf", text);
    assert_gives(&f, ENGINE_PODMAN, NULL, "/usr/share/containers/containers.conf", 2, 1, 2);
    snprintf(text, sizeof(text), list, 3, 4);
    put_text(&f, "/etc/containers/containers.conf", text);
    assert_gives(&f, ENGINE_PODMAN, NULL, "/etc/containers/containers.conf", 2, 3, 4);
    put_text(&f, "/etc/containers/containers.conf.d/a.conf",
             "[containers]\ndefault_ulimits = [\"nproc=1\", {append=true}]\n");
    put_text(&f, "/etc/containers/containers.conf.d/b.txt", "[containers]\ndefault_ulimits = []\n");
    assert_gives(&f, ENGINE_PODMAN, NULL, "/etc/containers/containers.conf", 2, 3, 4);
    snprintf(text, sizeof(text), list, 5, 6);
    put_text(&f, "/home/a/.config/containers/containers.conf", text);
    assert_gives(&f, ENGINE_PODMAN, NULL, "/etc/containers/containers.conf", 2, 3, 4);
    ck_assert_int_eq(engine_read_user_podman(&f.root, "/home/a", &result.list, &result.problems), 0);
    assert_in_force(&result, "/home/a/.config/containers/containers.conf", 2, 5, 6);
    free_result(&result);
    teardown(&f);
}
END_TEST

/* What the caller has, the engine's own limit, is left alone by an engine that sets none. */
START_TEST(what_the_caller_has_is_overridden_by_a_limit_alone)
{
    struct assignment unit = {.file = "/u", .line = 1, .text = "7", .limit = {7, 7}};
    struct result result = {0};
    struct fixture f;

    setup(&f);
    put_text(&f, "/etc/crio/crio.conf", "[crio.runtime]\ndefault_ulimits = []\n");
    ck_assert_int_eq(assignments_add(&result.list, &unit), 0);
    ck_assert_int_eq(engine_read_limits(&f.root, ENGINE_CRIO, NULL, &result.list, &result.problems), 0);
    assert_in_force(&result, "/u", 1, 7, 7);
    put_text(&f, "/etc/crio/crio.conf", "[crio.runtime]\ndefault_ulimits = ['nofile=1:2']\n");
    ck_assert_int_eq(engine_read_limits(&f.root, ENGINE_CRIO, NULL, &result.list, &result.problems), 0);
    assert_in_force(&result, "/etc/crio/crio.conf", 2, 1, 2);
    ck_assert_int_eq(result.list.at[0].state, ASSIGNMENT_OVERRIDDEN);
    free_result(&result);
    teardown(&f);
}
END_TEST

SUITE("engine", no_configuration_sets_nothing, docker_default_ulimits, docker_entries_are_bounded,
      docker_flags, variables_of_the_command, docker_refuses_flag_and_file, containerd_of_each_version,
      containerd_lists_the_other_runtimes, containerd_imports, containerd_base_spec_that_cannot_be_read,
      crio_files_and_flags, podman_files, what_the_caller_has_is_overridden_by_a_limit_alone)
