#include "suite.h"

#include "launcher/environment.h"

static char *environment[] = {"PATHS=no", "NOEQUALS", "PATH=/bin", "EMPTY=", "PATH=/later", "=odd", NULL};

START_TEST(the_first_of_a_name_is_given)
{
    ck_assert_str_eq(environment_get(environment, "PATH"), "/bin");
    ck_assert_str_eq(environment_get(environment, "EMPTY"), "");
    ck_assert_ptr_eq(environment_get(environment, "PATH"), environment[2] + 5);
}
END_TEST

START_TEST(only_a_whole_name_is_found)
{
    char *none[] = {NULL};

    ck_assert_ptr_null(environment_get(environment, "PAT"));
    ck_assert_ptr_null(environment_get(environment, "PATHSX"));
    ck_assert_ptr_null(environment_get(environment, "NOEQUALS"));
    ck_assert_ptr_null(environment_get(environment, "path"));
    ck_assert_ptr_null(environment_get(none, "PATH"));
}
END_TEST

SUITE("environment", the_first_of_a_name_is_given, only_a_whole_name_is_found)
