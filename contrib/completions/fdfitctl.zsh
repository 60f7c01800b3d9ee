#compdef fdfitctl
# zsh completion for fdfitctl(1); its name in fpath is _fdfitctl.

_fdfitctl_commands() {
    local -a commands
    commands=(
    'measure:measure the peak'
    'suggest:suggest a limit by the peak'
    'help:print the commands, or the options of one'
    )
    _describe command commands
}

_fdfitctl_names() {
    local -a names=(${(u)$(cat /proc/<->/comm 2>/dev/null)})
    compadd -a names
}

_fdfitctl_options() {
    case $1 in
    measure)
        _arguments -S \
            '(-n --name)'{-n+,--name=}'[every process of that name]:name:_fdfitctl_names' \
            '(-c --cgroup)'{-c+,--cgroup=}'[every process in a cgroup]:cgroup:_files -/' \
            '(-t --tree)'{-t,--tree}'[their descendants too]' \
            '(-f --for)'{-f+,--for=}'[stop after that time]:time, such as 60s:' \
            '(-i --interval)'{-i+,--interval=}'[from sample to sample]:time, such as 1s:' \
            '(-l --label)'{-l+,--label=}'[the line of the peak file]:label:' \
            '(-p --peak-file)'{-p+,--peak-file=}'[write what was measured]:peak file:_files' \
            '(-j --json)'{-j,--json}'[print JSON]' \
            '(-)'{-h,--help}'[print a summary of the options]' \
            '*:process:_pids'
        ;;
    suggest)
        _arguments -S \
            '(-p --peak-file)'{-p+,--peak-file=}'[by what this file has recorded]:peak file:_files' \
            '(-t --tree)'{-t,--tree}'[by the descendants too]' \
            '--headroom=[what to add to the peak]:percentage or +N:' \
            '--floor=[the least soft limit]:number:' \
            '--ceiling=[the most]:number:' \
            '--hard=[the hard limit]:hard limit:(soft inherit unlimited)' \
            '(-f --format)'{-f+,--format=}'[how it is written]:format:(policy systemd docker compose podman oci kubernetes prlimit)' \
            '(-j --json)'{-j,--json}'[print JSON]' \
            '(-)'{-h,--help}'[print a summary of the options]' \
            '*:process:_pids'
        ;;
    help) _arguments ':command:(measure suggest)' ;;
    esac
}

_fdfitctl() {
    local state line
    _arguments -C \
        '(-)'{-h,--help}'[print the commands]' \
        '(-)'{-V,--version}'[print the version]' \
        ':command:_fdfitctl_commands' \
        '*::argument:->argument'
    [[ $state == argument ]] && _fdfitctl_options $line[1]
}

_fdfitctl "$@"
