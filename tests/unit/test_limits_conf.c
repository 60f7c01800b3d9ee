#include "fixture.h"

#include "base/err.h"
#include "inspect/limits_conf.h"

#define CONF "/etc/security/limits.conf"

static struct limits_group groups[] = {{(char *)"users", 100}, {(char *)"db", 2000}};
static const struct limits_user anna = {(char *)"anna", 1000, 100, groups, COUNT(groups), false};
static struct limits_group roots_group[] = {{(char *)"root", 0}};

static struct limits_conf take(const char *text, const struct limits_user *user, size_t wanted_problems)
{
    struct limits_conf conf = {0};
    struct problems problems = {0};

    ck_assert_int_eq(limits_conf_take(text, strlen(text), CONF, user, &conf, &problems), 0);
    ck_assert_uint_eq(problems.count, wanted_problems);
    problems_deinit(&problems);
    return conf;
}

/* The line and the value in force; line 0: none. */
static void assert_list(const struct assignments *list, unsigned line, uint64_t value)
{
    const struct assignment *a = assignments_last(list);

    ck_assert_uint_eq(a ? a->line : 0, line);
    if (a) {
        ck_assert_uint_eq(a->limit.soft, value);
        ck_assert_uint_eq(a->limit.hard, value);
    }
}

static void assert_takes(const char *text, const struct limits_user *user, unsigned soft_line, uint64_t soft,
                         unsigned hard_line, uint64_t hard)
{
    struct limits_conf conf = take(text, user, 0);

    assert_list(&conf.soft, soft_line, soft);
    assert_list(&conf.hard, hard_line, hard);
    limits_conf_deinit(&conf);
}

START_TEST(types_and_values)
{
    assert_takes("# a comment\n\n*\tsoft   nofile 1024 # why\n* hard nofile 4096\n", &anna, 3, 1024, 4, 4096);
    assert_takes("* - nofile 5", &anna, 1, 5, 1, 5);
    assert_takes("* HARD NoFile UNLIMITED\r\n", &anna, 0, 0, 1, UINT64_MAX);
    assert_takes("* soft nofile infinity\n* hard nofile -1\n", &anna, 1, UINT64_MAX, 2, UINT64_MAX);
    assert_takes("* soft nofile -\n", &anna, 1, UINT64_MAX, 0, 0);
    assert_takes("* soft nofile 99999999999999999999\n", &anna, 1, UINT64_MAX, 0, 0);
    assert_takes("* soft nproc 7\n* hard maxlogins 3\n", &anna, 0, 0, 0, 0);
    assert_takes("  * soft nofile 8 9 10\n", &anna, 1, 8, 0, 0);
}
END_TEST

START_TEST(domains)
{
    static const struct {
        const char *domain;
        bool means;
    } cases[] = {
        {"anna", true},     {"ann", false},         {"Anna", false},   {"*", true},
        {"@users", true},   {"@db", true},          {"@wheel", false}, {":1000", true},
        {":1001", false},   {"1000:", true},        {"1001:", false},  {"500:1000", true},
        {"500:999", false}, {"@:2000", true},       {"@:100", true},   {"@:7", false},
        {"@100:", true},    {"@101:", false},       {"@50:100", true}, {"@2000:2000", false},
        {"@", false},       {"0:4294967295", true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[128];

        snprintf(text, sizeof(text), "%s soft nofile 7\n", cases[i].domain);
        assert_takes(text, &anna, cases[i].means, 7, 0, 0);
    }
}
END_TEST

START_TEST(the_more_exact_line_counts_and_of_equal_ones_the_last)
{
    struct limits_conf conf;

    assert_takes("anna soft nofile 1\n@db soft nofile 2\n* soft nofile 3\n", &anna, 1, 1, 0, 0);
    assert_takes("* soft nofile 3\n@db soft nofile 2\n:1000 soft nofile 4\nanna soft nofile 1\n", &anna, 4, 1,
                 0, 0);
    assert_takes("anna soft nofile 1\n:1000 soft nofile 4\n", &anna, 2, 4, 0, 0);
    assert_takes("@db soft nofile 2\n@users soft nofile 5\n* soft nofile 6\n", &anna, 2, 5, 0, 0);
    /* Of "-" the hard limit is not looked at behind a soft one that is set more exactly. */
    assert_takes("anna soft nofile 1\n* - nofile 9\n", &anna, 1, 1, 0, 0);
    assert_takes("anna hard nofile 1\n* - nofile 9\n", &anna, 2, 9, 1, 1);
    conf = take("@db soft nofile 2\n* soft nofile 3\nanna soft nofile 4\n", &anna, 0);
    ck_assert_uint_eq(conf.soft.count, 3);
    ck_assert_int_eq(conf.soft.at[0].state, ASSIGNMENT_OVERRIDDEN);
    ck_assert_int_eq(conf.soft.at[1].state, ASSIGNMENT_OVERRIDDEN);
    ck_assert_ptr_nonnull(conf.soft.at[1].problem);
    ck_assert_uint_eq(conf.soft_rank, 1);
    ck_assert_uint_eq(conf.hard_rank, 0);
    limits_conf_deinit(&conf);
}
END_TEST

START_TEST(a_line_that_exempts)
{
    static const char *const exempting[] = {"anna -", "@db -", ":1000 -", "@100: -", "anna -x"};
    char text[128];

    for (size_t i = 0; i < COUNT(exempting); i++) {
        struct limits_conf conf;

        snprintf(text, sizeof(text), "anna - nofile 7\n%s\nanna soft nofile 8\n", exempting[i]);
        conf = take(text, &anna, 0);
        ck_assert(conf.exempt);
        assert_list(&conf.soft, 0, 0);
        assert_list(&conf.hard, 0, 0);
        limits_conf_deinit(&conf);
    }
    assert_takes("* -\n@wheel -\n:7 -\nanna soft nofile 8\n", &anna, 4, 8, 0, 0);
}
END_TEST

START_TEST(what_pam_limits_skips_is_a_problem)
{
    static const char *const skipped[] = {
        "* soft",
        "anna",
        "* both nofile 1",
        "* soft nofile x",
        "* soft nofile 0:1:2x:",
        "x:9 soft core 1",
        ": soft core 1",
        "9:x soft nofile 1",
        "% soft nofile 1",
        "%db hard nofile 1",
        "\x1b soft",
        ":4294967296 - core 1",
    };
    struct limits_conf conf;

    for (size_t i = 0; i < COUNT(skipped); i++) {
        conf = take(skipped[i], &anna, 1);
        if (i != 4)
            ck_assert_uint_eq(conf.soft.count + conf.hard.count, 0);
        limits_conf_deinit(&conf);
    }
    /* It takes the number at the beginning. */
    conf = take("* soft nofile 64k\n", &anna, 1);
    assert_list(&conf.soft, 1, 64);
    limits_conf_deinit(&conf);
}
END_TEST

START_TEST(problems_are_bounded)
{
    const size_t n = ROOT_FILE_MAX;
    struct problems problems = {0};
    struct limits_conf conf = {0};
    char *text = malloc(n);

    for (size_t i = 0; i < n; i++)
        text[i] = "x\n"[i % 2];
    ck_assert_int_eq(limits_conf_take(text, n, CONF, &anna, &conf, &problems), 0);
    ck_assert_uint_eq(problems.count, 21);
    memset(text, '*', n);
    ck_assert_int_eq(limits_conf_take(text, n, CONF, &anna, &conf, &problems), 0);
    ck_assert_uint_eq(problems.count, 22);
    problems_deinit(&problems);
    limits_conf_deinit(&conf);
    free(text);
}
END_TEST

START_TEST(root_on_debian)
{
    struct limits_user root = {(char *)"root", 0, 0, roots_group, 1, true};
    struct limits_conf conf;

    assert_takes("* soft nofile 1\n@root soft nofile 2\n", &root, 0, 0, 0, 0);
    assert_takes("* soft nofile 1\nroot soft nofile 3\n", &root, 2, 3, 0, 0);
    conf = take("@root -\n", &root, 0);
    ck_assert(conf.exempt);
    limits_conf_deinit(&conf);
    root.debian = false;
    assert_takes("@root soft nofile 2\n* soft nofile 1\n", &root, 1, 2, 0, 0);
}
END_TEST

START_TEST(what_a_session_gets)
{
    static const struct nofile inherited = {500, 2000}, pid1 = {65536, 4000};
    struct limits_user debians = anna;
    static const struct {
        const char *text;
        struct nofile plain, debian;
    } cases[] = {
        {"", {500, 2000}, {1024, 4000}},
        {"anna -\nanna - nofile 7\n", {500, 2000}, {1024, 2000}},
        {"* soft nofile 7\n", {7, 2000}, {7, 4000}},
        {"* hard nofile 7\n", {7, 7}, {7, 7}},
        {"* hard nofile unlimited\n", {500, 9999}, {1024, 9999}},
        {"* - nofile unlimited\n", {9999, 9999}, {9999, 9999}},
        {"* soft nofile 9\n* hard nofile 8\n", {8, 8}, {8, 8}},
    };

    debians.debian = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct limits_conf conf = take(cases[i].text, &anna, 0);
        struct nofile plain = limits_conf_result(&conf, &anna, &inherited, &pid1, 9999),
                      debian = limits_conf_result(&conf, &debians, &inherited, &pid1, 9999);

        ck_assert_uint_eq(plain.soft, cases[i].plain.soft);
        ck_assert_uint_eq(plain.hard, cases[i].plain.hard);
        ck_assert_uint_eq(debian.soft, cases[i].debian.soft);
        ck_assert_uint_eq(debian.hard, cases[i].debian.hard);
        limits_conf_deinit(&conf);
    }
}
END_TEST

START_TEST(users_and_their_groups)
{
    struct limits_user user;
    struct fixture f;

    setup(&f);
    ck_assert_int_eq(limits_user_read(&f.root, "anna", 0, &user), LIMITS_CONF_NO_USER);
    put_text(&f, "/etc/passwd",
             "root:x:0:0::/root:/bin/sh\nbroken\nanna:x:1000:100:A,,,:/home/anna:/bin/sh\n");
    ck_assert_int_eq(limits_user_read(&f.root, "anna", 0, &user), 0);
    ck_assert_uint_eq(user.group_count, 0);
    limits_user_deinit(&user);
    put_text(&f, "/etc/group", "root:x:0:\ndb:x:2000:bea,anna\nusers:x:100:\nother:x:7:annabel\n");
    ck_assert_int_eq(limits_user_read(&f.root, NULL, 1000, &user), 0);
    ck_assert_str_eq(user.name, "anna");
    ck_assert_uint_eq(user.gid, 100);
    ck_assert_uint_eq(user.group_count, 2);
    ck_assert_str_eq(user.groups[0].name, "db");
    ck_assert_uint_eq(user.groups[1].gid, 100);
    limits_user_deinit(&user);
    ck_assert_int_eq(limits_user_read(&f.root, "nobody", 0, &user), LIMITS_CONF_NO_USER);
    ck_assert_int_eq(limits_user_read(&f.root, NULL, 1001, &user), LIMITS_CONF_NO_USER);
    teardown(&f);
}
END_TEST

START_TEST(what_is_like_debian)
{
    static const struct {
        const char *text;
        bool debian;
    } cases[] = {
        {"NAME=x\nID=debian\n", true},
        {"ID=ubuntu\nID_LIKE=\"ubuntu debian\"\n", true},
        {"ID=fedora\n", false},
        {"ID=\"debianish\"\nVARIANT_ID=debian\n", false},
    };
    struct limits_user user;
    struct fixture f;

    setup(&f);
    put_text(&f, "/etc/passwd", "root:x:0:0::/root:/bin/sh\n");
    for (size_t i = 0; i < COUNT(cases); i++) {
        put_text(&f, "/etc/os-release", cases[i].text);
        ck_assert_int_eq(limits_user_read(&f.root, "root", 0, &user), 0);
        ck_assert_int_eq(user.debian, cases[i].debian);
        limits_user_deinit(&user);
    }
    teardown(&f);
}
END_TEST

START_TEST(files_in_their_order)
{
    struct problems problems = {0};
    struct limits_conf conf;
    struct fixture f;

    setup(&f);
    ck_assert_int_eq(limits_conf_read(&f.root, &anna, &conf, &problems), 0);
    ck_assert_uint_eq(conf.soft.count + conf.hard.count + problems.count, 0);
    put_text(&f, CONF, "* - nofile 1\n");
    put_text(&f, "/etc/security/limits.d/B.conf", "* soft nofile 2\n");
    put_text(&f, "/etc/security/limits.d/a.conf", "* soft nofile 3\n");
    put_text(&f, "/etc/security/limits.d/.z.conf", "* soft nofile 4\n");
    put_text(&f, "/etc/security/limits.d/z.txt", "* soft nofile 5\n");
    link_to(&f, "y.conf", "/etc/security/limits.d/y.conf");
    ck_assert_int_eq(limits_conf_read(&f.root, &anna, &conf, &problems), 0);
    assert_list(&conf.soft, 1, 3);
    ck_assert_str_eq(assignments_last(&conf.soft)->file, "/etc/security/limits.d/a.conf");
    ck_assert_str_eq(assignments_last(&conf.hard)->file, CONF);
    ck_assert_uint_eq(problems.count, 1);
    ck_assert_str_eq(problems.at[0].file, "/etc/security/limits.d/y.conf");
    limits_conf_deinit(&conf);
    put_text(&f, CONF, "* - nofile 1\n@db -\n");
    ck_assert_int_eq(limits_conf_read(&f.root, &anna, &conf, &problems), 0);
    ck_assert(conf.exempt);
    ck_assert_uint_eq(conf.soft.count, 1);
    limits_conf_deinit(&conf);
    problems_deinit(&problems);
    teardown(&f);
}
END_TEST

SUITE("limits_conf", types_and_values, domains, the_more_exact_line_counts_and_of_equal_ones_the_last,
      a_line_that_exempts, what_pam_limits_skips_is_a_problem, problems_are_bounded, root_on_debian,
      what_a_session_gets, users_and_their_groups, what_is_like_debian, files_in_their_order)
