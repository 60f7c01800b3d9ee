/* The formats. What they write goes into files and command lines of other programs; each is checked by its
 * own reader in the tests. */
#include "ctl/suggestion.h"

#include <string.h>

static void write_comments(const struct suggestion *s, FILE *file)
{
    for (const char *at = s->reasons; *at;) {
        int n = (int)strcspn(at, "\n");

        fprintf(file, "# %.*s\n", n, at);
        at += n + 1;
    }
}

static void write_pair(const struct suggestion *s, FILE *file)
{
    fprintf(file, "%llu:%llu", (unsigned long long)s->plan.limit.soft,
            (unsigned long long)s->plan.limit.hard);
}

static void write_key(const struct suggestion *s, enum key_id id, FILE *file)
{
    char buffer[TEXT_LINE];
    TEXT_ON(value, buffer);

    value_format(&s->settings->value[id], &value);
    fprintf(file, "%s = %s\n", key_row(id)->name, value.at);
}

/* The numbers that were decided by, not the decision: so the bounds can be changed in the file. */
static void write_policy(const struct suggestion *s, FILE *file)
{
    static const enum key_id given[] = {KEY_CEILING, KEY_HARD};

    write_comments(s, file);
    write_key(s, KEY_SOFT, file);
    write_key(s, KEY_PEAK, file);
    write_key(s, KEY_HEADROOM, file);
    if (s->floor)
        fprintf(file, "floor = %llu\n", (unsigned long long)s->floor);
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        if (s->settings->origin[given[i]].kind == ORIGIN_ARG)
            write_key(s, given[i], file);
}

static void write_systemd(const struct suggestion *s, FILE *file)
{
    write_comments(s, file);
    fputs(
        "# As /etc/systemd/system/UNIT.service.d/nofile.conf (systemctl edit UNIT); then restart the unit.\n"
        "[Service]\n"
        "LimitNOFILE=",
        file);
    write_pair(s, file);
    fputc('\n', file);
}

static void write_docker(const struct suggestion *s, FILE *file)
{
    write_comments(s, file);
    fputs("docker run --ulimit nofile=", file);
    write_pair(s, file);
    fputs(" IMAGE\n", file);
}

static void write_compose(const struct suggestion *s, FILE *file)
{
    write_comments(s, file);
    fprintf(file,
            "services:\n"
            "  SERVICE:\n"
            "    ulimits:\n"
            "      nofile:\n"
            "        soft: %llu\n"
            "        hard: %llu\n",
            (unsigned long long)s->plan.limit.soft, (unsigned long long)s->plan.limit.hard);
}

static void write_podman(const struct suggestion *s, FILE *file)
{
    write_comments(s, file);
    fputs("# For all containers, as /etc/containers/containers.conf.d/nofile.conf; for one it is\n"
          "# podman run --ulimit nofile=",
          file);
    write_pair(s, file);
    fputs("\n[containers]\ndefault_ulimits = [\"nofile=", file);
    write_pair(s, file);
    fputs("\"]\n", file);
}

static void write_oci(const struct suggestion *s, FILE *file)
{
    fprintf(file,
            "{\n"
            "  \"process\": {\n"
            "    \"rlimits\": [\n"
            "      {\n"
            "        \"type\": \"RLIMIT_NOFILE\",\n"
            "        \"hard\": %llu,\n"
            "        \"soft\": %llu\n"
            "      }\n"
            "    ]\n"
            "  }\n"
            "}\n",
            (unsigned long long)s->plan.limit.hard, (unsigned long long)s->plan.limit.soft);
}

/* Kubernetes has no field for the limit, so the launcher goes before the command. The pair is quoted:
 * YAML 1.1 reads 256:20 as a number of base 60. */
static void write_kubernetes(const struct suggestion *s, FILE *file)
{
    write_comments(s, file);
    fputs(
        "# Kubernetes has no field for this limit: fdfit, copied by an init container, starts the command.\n"
        "# Put in your CONTAINER and its COMMAND, and the image that holds just /fdfit.\n"
        "spec:\n"
        "  template:\n"
        "    spec:\n"
        "      volumes:\n"
        "        - name: fdfit\n"
        "          emptyDir: {}\n"
        "      initContainers:\n"
        "        - name: fdfit\n"
        "          image: fdfit:" FDFIT_VERSION "\n"
        "          command: [\"/fdfit\", \"--install\", \"/target\"]\n"
        "          volumeMounts:\n"
        "            - name: fdfit\n"
        "              mountPath: /target\n"
        "      containers:\n"
        "        - name: CONTAINER\n"
        "          command: [\"/fdfit/fdfit\", \"-n\", \"",
        file);
    write_pair(s, file);
    fputs("\", \"--\", \"COMMAND\"]\n"
          "          volumeMounts:\n"
          "            - name: fdfit\n"
          "              mountPath: /fdfit\n"
          "              readOnly: true\n",
          file);
}

static void write_prlimit(const struct suggestion *s, FILE *file)
{
    write_comments(s, file);
    if (s->pid) {
        fprintf(file,
                "# A program that looks at its limit once, when it starts, has to be started anew; while it "
                "runs:\n"
                "# prlimit --pid %d --nofile=",
                (int)s->pid);
        write_pair(s, file);
        fputc('\n', file);
    }
    fputs("prlimit --nofile=", file);
    write_pair(s, file);
    fputs(" -- COMMAND\n", file);
}

static const struct suggestion_format formats[] = {
    {"policy", true, write_policy},         {"systemd", true, write_systemd}, {"docker", true, write_docker},
    {"compose", true, write_compose},       {"podman", true, write_podman},   {"oci", false, write_oci},
    {"kubernetes", true, write_kubernetes}, {"prlimit", true, write_prlimit},
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const struct suggestion_format *suggestion_format_find(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

void suggestion_format_names(struct text *t)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        text_join(t, i ? ", " : "", formats[i].name, NULL);
}
