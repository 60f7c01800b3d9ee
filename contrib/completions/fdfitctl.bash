# bash completion for fdfitctl(1).

# _fdfitctl_value OPTION BEGINNING
_fdfitctl_value() {
    local words=''
    case $1 in
    --peak-file | -p | --cgroup | -c)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
        return
        ;;
    --format) words='policy systemd docker compose podman oci kubernetes prlimit' ;;
    --hard) words='soft inherit unlimited' ;;
    --name | -n) words=$(cat /proc/[0-9]*/comm 2>/dev/null) ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}

_fdfitctl_option() {
    local options
    case $1 in
    measure)
        options='--name= --cgroup= --tree --for= --interval= --label= --peak-file= --json --help
            -n -c -t -f -i -l -p -j -h'
        ;;
    suggest)
        options='--peak-file= --tree --headroom= --floor= --ceiling= --hard= --format= --json --help
            -p -t -f -j -h'
        ;;
    *) options='--help --version -h -V' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$2")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}

_fdfitctl() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    # bash makes a word of its own of a '='
    if [[ $word == = ]]; then
        word=''
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    [[ $command == suggest && $before == -f ]] && before=--format
    case $before in
    --name | --cgroup | --for | --interval | --label | --peak-file | --headroom | --floor | --ceiling | --hard | \
        --format | -[ncfilp])
        _fdfitctl_value "$before" "$word"
        return
        ;;
    esac
    if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'measure suggest help' -- "$word")
    elif [[ $word == -* ]]; then
        _fdfitctl_option "$command" "$word"
    elif [[ $command == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'measure suggest' -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$word")
    fi
} && complete -F _fdfitctl fdfitctl
