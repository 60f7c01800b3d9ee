# fish completion for fdfitctl(1).

function __fish_fdfitctl_names
    cat /proc/[0-9]*/comm 2>/dev/null | sort -u
end

set -l measure '__fish_seen_subcommand_from measure'
set -l suggest '__fish_seen_subcommand_from suggest'

complete -c fdfitctl -f
complete -c fdfitctl -n __fish_use_subcommand -a measure -d 'Measure the peak'
complete -c fdfitctl -n __fish_use_subcommand -a suggest -d 'Suggest a limit by the peak'
complete -c fdfitctl -n __fish_use_subcommand -a help -d 'Print the commands, or the options of one'
complete -c fdfitctl -n __fish_use_subcommand -s V -l version -d 'Print the version'
complete -c fdfitctl -n '__fish_seen_subcommand_from help' -a 'measure suggest'
complete -c fdfitctl -n "$measure; or $suggest" -x -a '(__fish_complete_pids)'
complete -c fdfitctl -s h -l help -d 'Print a summary'

complete -c fdfitctl -n $measure -s n -l name -x -a '(__fish_fdfitctl_names)' -d 'Every process of that name'
complete -c fdfitctl -n $measure -s c -l cgroup -r -F -d 'Every process in a cgroup'
complete -c fdfitctl -n $measure -s t -l tree -d 'Their descendants too'
complete -c fdfitctl -n $measure -s f -l for -x -d 'Stop after that time'
complete -c fdfitctl -n $measure -s i -l interval -x -d 'From sample to sample'
complete -c fdfitctl -n $measure -s l -l label -x -d 'The line of the peak file'
complete -c fdfitctl -n $measure -s p -l peak-file -r -F -d 'Write what was measured'
complete -c fdfitctl -n $measure -s j -l json -d 'Print JSON'

complete -c fdfitctl -n $suggest -s p -l peak-file -r -F -d 'By what this file has recorded'
complete -c fdfitctl -n $suggest -s t -l tree -d 'By the descendants too'
complete -c fdfitctl -n $suggest -l headroom -x -d 'What to add to the peak'
complete -c fdfitctl -n $suggest -l floor -x -d 'The least soft limit'
complete -c fdfitctl -n $suggest -l ceiling -x -d 'The most'
complete -c fdfitctl -n $suggest -l hard -x -a 'soft inherit unlimited' -d 'The hard limit'
complete -c fdfitctl -n $suggest -s f -l format -x -a 'policy systemd docker compose podman oci kubernetes prlimit' -d 'How it is written'
complete -c fdfitctl -n $suggest -s j -l json -d 'Print JSON'
