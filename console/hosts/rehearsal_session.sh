# One command, file transfer or login within a rehearsal host; sshd's forced command has entered its namespaces already.
PATH=/opt/rehearsal/scripts/fake/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
unset LD_PRELOAD LD_LIBRARY_PATH
[ -r /run/rehearsal/environment ] && . /run/rehearsal/environment
cd "$HOME" 2>/dev/null || cd /
[ -x "$SHELL" ] || SHELL=/bin/sh
if [ -z "$SSH_ORIGINAL_COMMAND" ]; then
  exec "$SHELL" -l
fi
command=$SSH_ORIGINAL_COMMAND
unset SSH_ORIGINAL_COMMAND
exec setsid "$SHELL" -c "$command" # a session that is known within: sshd's own is outside and would read 0 here
