#!/bin/sh
# render.sh SCDOC PAGE.scd: the page in roff, on stdout.
set -eu

# In two steps, since a pipe would hide a failure of scdoc, and a page would end in the middle.
page=$("$1" <"$2")

# scdoc writes an empty paragraph before each heading and at the end of each indented block. mandoc warns of
# them, and our pages are to pass `mandoc -Tlint` without a word: drop the first kind, and put the second
# behind the block, where it separates what follows.
printf '%s\n' "$page" | awk '
/^\.P$/ { paragraph = 1; next }
/^\.RE$/ { print; next }
/^\.SH/ || /^\.TH/ { print; paragraph = 0; heading = 1; next }
{
    if (paragraph && !heading)
        print ".P"
    print
    paragraph = heading = 0
}'
