# bash completion for fdfit(1).

# The arguments up to the cursor, as fdfit will get them: bash splits words at '=' and ':' too. Sets args, and
# in at the place in COMP_WORDS where each begins.
_fdfit_arguments() {
    local line=$COMP_LINE rest i
    args=() at=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        rest=${line#"${line%%[![:blank:]]*}"}
        if ((i == 0)) || [[ $rest != "$line" ]]; then
            args+=("${COMP_WORDS[i]}") at+=("$i")
        else
            args[${#args[@]} - 1]+=${COMP_WORDS[i]}
        fi
        line=${rest#"${COMP_WORDS[i]}"}
    done
}

# The long option that takes the next argument as its value, or nothing.
_fdfit_awaits() {
    case $1 in
    --soft | --hard | --peak | --peak-file | --headroom | --floor | --ceiling | --fallback | --settle | \
        --when-denied | --inherited-fds | --lock | --label | --record | --sample | --report | --warn-at | --signal-to | --rewrite | --grace | --exit-map | --parent-death | \
        --policy | --nofile | --install) echo "$1" ;;
    *)
        [[ $1 =~ ^-[qvhV]*n$ ]] && echo --nofile
        [[ $1 =~ ^-[qvhV]*p$ ]] && echo --policy
        ;;
    esac
}

# _fdfit_value OPTION BEGINNING
_fdfit_value() {
    local words='' name
    case $1 in
    --soft) words='inherit peak unlimited' ;;
    --hard) words='soft inherit unlimited' ;;
    --when-denied) words='fail clamp' ;;
    --inherited-fds) words='warn keep close' ;;
    --lock) words='no deny pretend clamp' ;;
    --record) words='yes no reset' ;;
    --signal-to) words='child group tree' ;;
    --parent-death) words='no' ;;
    --nofile) words='unlimited' ;;
    --policy)
        for name in /etc/fdfit/*.conf; do
            [[ -e $name ]] && name=${name##*/} && words+=" ${name%.conf}"
        done
        ;;&
    --policy | --peak-file | --report | --install)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2"; compgen -f -- "$2")
        return
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}

_fdfit_option() {
    local options='--soft= --hard= --peak= --peak-file= --headroom= --floor= --ceiling= --fallback= --settle=
        --when-denied= --inherited-fds= --lock= --label= --record= --sample= --report= --warn-at= --init --signal-to= --rewrite= --grace= --wait-all --exit-map=
        --parent-death= --quiet --verbose --policy= --nofile= --explain --install= --help
        --version -q -v -p -n -h -V'
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$1")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}

# The command from COMP_WORDS[$1] on, by its own completion where bash-completion is loaded.
_fdfit_command() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif (($1 == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}

_fdfit() {
    local args at i last option
    COMPREPLY=()
    _fdfit_arguments
    last=$((${#args[@]} - 1))
    for ((i = 1; i < last; i++)); do
        [[ ${args[i]} == -- ]] && _fdfit_command "${at[i + 1]}" && return
        [[ ${args[i]} == -?* ]] || break
        option=$(_fdfit_awaits "${args[i]}")
        [[ $option ]] || continue
        ((++i < last)) || { _fdfit_value "$option" "${args[last]}"; return; }
    done
    if ((i < last)); then
        _fdfit_command "${at[i]}"
    elif [[ ${args[last]} == --*=* ]]; then
        _fdfit_value "${args[last]%%=*}" "${args[last]#*=}"
        [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/${args[last]%%=*}=}")
    elif [[ ${args[last]} == -* ]]; then
        _fdfit_option "${args[last]}"
    else
        _fdfit_command "${at[last]}"
    fi
} && complete -F _fdfit fdfit fdfit-init
