# fish completion for fdfit(1).

function __fish_fdfit_policies
    for file in /etc/fdfit/*.conf
        string replace -r '.*/(.*)\.conf$' '$1' -- $file
    end
    __fish_complete_path (commandline -ct)
end

# The command and its arguments, by their own completions; the options named here take a value.
complete -c fdfit -x -a '(__fish_complete_subcommand -- -n --nofile -p --policy --soft --hard --peak --peak-file --headroom --floor --ceiling --fallback --settle --when-denied --inherited-fds --lock --label --record --sample --report --warn-at --install --signal-to --rewrite --grace --exit-map --parent-death)'

complete -c fdfit -l soft -x -a 'inherit peak unlimited' -d 'The soft limit'
complete -c fdfit -l hard -x -a 'soft inherit unlimited' -d 'The hard limit'
complete -c fdfit -l peak -x -d 'A peak that was measured elsewhere'
complete -c fdfit -l peak-file -r -F -d 'Where earlier starts recorded their peak'
complete -c fdfit -l headroom -x -d 'What to add to the peak'
complete -c fdfit -l floor -x -d 'The least soft limit that is derived'
complete -c fdfit -l ceiling -x -d 'The most soft limit that is derived'
complete -c fdfit -l fallback -x -d 'The soft limit while there is no peak'
complete -c fdfit -l settle -x -d 'How long a peak must have been observed'
complete -c fdfit -l when-denied -x -a 'fail clamp' -d 'What to do with a limit that cannot be had'
complete -c fdfit -l inherited-fds -x -a 'warn keep close' -d 'Descriptors open at or above the soft limit'
complete -c fdfit -l lock -x -a 'no deny pretend clamp' -d 'Keep the workload from changing its limit'
complete -c fdfit -l label -x -d 'The line of the peak file to write'
complete -c fdfit -l record -x -a 'yes no reset' -d 'Write the peak to the peak file'
complete -c fdfit -l sample -x -d 'How often the peak is measured'
complete -c fdfit -l report -r -F -d 'Write a report for Prometheus'
complete -c fdfit -l warn-at -x -d 'Warn at that much of the soft limit'
complete -c fdfit -l init -d 'Stay as PID 1 or subreaper'
complete -c fdfit -l signal-to -x -a 'child group tree' -d 'Who gets the signals that are passed on'
complete -c fdfit -l rewrite -x -d 'Pass signals on as others'
complete -c fdfit -l grace -x -d 'How long after TERM to send KILL'
complete -c fdfit -l wait-all -d 'End what the command left running'
complete -c fdfit -l exit-map -x -d 'Turn exit statuses into others'
complete -c fdfit -l parent-death -x -a 'no' -d 'The signal to get when the parent dies'
complete -c fdfit -s q -l quiet -d 'Say nothing but errors'
complete -c fdfit -s v -l verbose -d 'Say more'
complete -c fdfit -s p -l policy -x -a '(__fish_fdfit_policies)' -d 'Read a policy file'
complete -c fdfit -s n -l nofile -x -a unlimited -d 'Both limits'
complete -c fdfit -l explain -d 'Print the whole decision and start nothing'
complete -c fdfit -l install -r -F -d 'Copy this program to a file or into a folder'
complete -c fdfit -s h -l help -d 'Print a summary of the options'
complete -c fdfit -s V -l version -d 'Print the version'

complete -c fdfit-init -w fdfit
