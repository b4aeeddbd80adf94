#!/bin/sh
# A background process with a file of its process id, for hosts without systemd.
# Usage: process.sh start|run|stop|state FOLDER. FOLDER/command is what runs, in that folder, with its output in FOLDER/log.
# start: in the background; run: until it ends, with its exit code; stop: SIGTERM, and SIGKILL after 75 s;
# state: exit code 0 where it runs, else 9.
set -eu
cd "$2"

# A process id may be another process's by now; its folder tells.
runs() {
  pid=$(cat pid 2>/dev/null) && [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$(pwd -P)" ]
}

case $1 in
  state)
    runs || exit 9 ;;
  start)
    setsid ./command >log 2>&1 </dev/null &
    echo $! >pid ;;
  run)
    echo $$ >pid
    exec ./command >log 2>&1 </dev/null ;;
  stop)
    if ! runs; then
      rm -f pid
      exit 0
    fi
    echo stopped
    kill -TERM "$pid"
    seconds=0
    while runs; do
      if [ "$seconds" -eq 75 ]; then kill -KILL "$pid"; fi
      seconds=$((seconds + 1))
      sleep 1
    done
    rm -f pid ;;
esac
