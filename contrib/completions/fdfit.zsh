#compdef fdfit fdfit-init
# zsh completion for fdfit(1); its name in fpath is _fdfit.

_fdfit_policies() {
    local -a names=(/etc/fdfit/*.conf(N:t:r))
    _alternative 'names:policy:compadd -a names' 'files:policy file:_files'
}

_arguments -s -S \
    '--soft=[the soft limit]:soft limit:(inherit peak unlimited)' \
    '--hard=[the hard limit]:hard limit:(soft inherit unlimited)' \
    '--peak=[a peak that was measured elsewhere]:highest number + 1:' \
    '--peak-file=[where earlier starts recorded their peak]:peak file:_files' \
    '--headroom=[what to add to the peak]:percentage or +N:' \
    '--floor=[the least soft limit that is derived]:number:' \
    '--ceiling=[the most soft limit that is derived]:number:' \
    '--fallback=[the soft limit while there is no peak]:number:' \
    '--settle=[how long a peak must have been observed]:time, such as 24h:' \
    '--when-denied=[what to do with a limit that cannot be had]:what to do:(fail clamp)' \
    '--inherited-fds=[descriptors open at or above the soft limit]:what to do:(warn keep close)' \
    '--lock=[keep the workload from changing its limit]:how:(no deny pretend clamp)' \
    '--label=[the line of the peak file to write]:label:' \
    '--record=[write the peak to the peak file]:whether:(yes no reset)' \
    '--sample=[how often the peak is measured]:time, such as 1s:' \
    '--report=[write a report for Prometheus]:report file:_files' \
    '--warn-at=[warn at that much of the soft limit]:percentage:' \
    '--init[stay as PID 1 or subreaper]' \
    '--signal-to=[who gets the signals that are passed on]:who:(child group tree)' \
    '--rewrite=[pass signals on as others]:FROM\:TO,...:' \
    '--grace=[how long after TERM to send KILL]:time, such as 10s:' \
    '--wait-all[end what the command left running]' \
    '--exit-map=[turn exit statuses into others]:FROM\:TO,...:' \
    '--parent-death=[the signal to get when the parent dies]:signal:(no)' \
    '(-q --quiet)'{-q,--quiet}'[say nothing but errors]' \
    '(-v --verbose)'{-v,--verbose}'[say more]' \
    '(-p --policy)'{-p+,--policy=}'[read a policy file]:policy:_fdfit_policies' \
    '(-n --nofile)'{-n+,--nofile=}'[both limits]:soft\:hard:(unlimited)' \
    '--explain[print the whole decision and start nothing]' \
    '--install=[copy this program]:file or folder:_files' \
    '(-)'{-h,--help}'[print a summary of the options]' \
    '(-)'{-V,--version}'[print the version]' \
    '(-):command:_command_names -e' \
    '*::arguments:_normal'
