#!/bin/sh
# Restarts the nodes of a SUT one after the other, between runs: each has to be another process and serve before the next one goes, and
# the SUT's name has to be the same at the end.
set -euf

usage() {
  cat <<'USAGE'
Usage: rolling-restart.sh --restart COMMAND [--wait DURATION] [--longhaul COMMAND] NODE=HOST:PORT ... [-- FLAG ...]

  --restart COMMAND   what restarts a node, run by sh; {node} and {host} in it are replaced (an IPv6 address without its brackets).
                      It ends when the old process has ended
  --wait DURATION     longest wait for a node to serve again (default: 10m)
  --longhaul COMMAND  the program (default: longhaul)
  FLAG ...            how nodes are reached: --tls-ca FILE, --tls-cert FILE, --tls-key FILE, --token-file FILE, ...

Example:
  rolling-restart.sh --restart 'ssh {host} sudo systemctl restart longhaul-sut@{node}' \
    sut-a=10.0.0.2:50051 sut-b=10.0.0.3:50051 -- --tls-ca ca.crt --tls-cert tls.crt --tls-key tls.key --token-file token

Exit codes: 0 all nodes were restarted; 2 a wrong flag; 4 a node does not answer, does not tell which process it is, was not restarted,
or the SUT has another name; 3 a node answers and does not serve; else what the restart command ended with. The nodes behind the one
that failed are left as they are.
USAGE
}

# say CODE TEXT: ends.
stop() {
  printf 'rolling-restart.sh: %s\n' "$2" >&2
  exit "$1"
}

# replace TEXT WHAT BY: prints TEXT with each WHAT replaced.
replace() {
  rest=$1
  done=''
  while :; do
    case $rest in
      *"$2"*)
        done="$done${rest%%"$2"*}$3"
        rest=${rest#*"$2"} ;;
      *) break ;;
    esac
  done
  printf '%s' "$done$rest"
}

restart=''
wait_for=10m
longhaul=longhaul
nodes=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --) shift; break ;;
    --restart | --wait | --longhaul) [ $# -ge 2 ] || stop 2 "$1 needs a value" ;;
    -*) stop 2 "\"$1\" is no flag of this script; flags for longhaul come behind --" ;;
    *[!][A-Za-z0-9._=:-]* | =* | *=) stop 2 "\"$1\" is no node: it is written NODE=HOST:PORT" ;;
    *=*:*) nodes="$nodes $1"; shift; continue ;;
    *) stop 2 "\"$1\" is no node: it is written NODE=HOST:PORT" ;;
  esac
  case $1 in
    --restart) restart=$2 ;;
    --wait) wait_for=$2 ;;
    --longhaul) longhaul=$2 ;;
  esac
  shift 2
done
[ -n "$restart" ] || stop 2 '--restart COMMAND is needed; see --help'
[ -n "$nodes" ] || stop 2 'no node: NODE=HOST:PORT is needed at least once'

# Behind -- stands what longhaul is given with every call: "$@" from here on.
all=''
for node in $nodes; do all="$all${all:+,}${node#*=}"; done

# The program may be several words ("node dist/main.js").
# shellcheck disable=SC2086
name_of_sut() { $longhaul probe name --sut "$all" "$@" | sed -n 's/^SUT  *\(.*\)   (Name took .*/\1/p'; }

# identity ADDRESS FLAG...: of the process that answers there.
identity() {
  address=$1
  shift
  # shellcheck disable=SC2086
  $longhaul probe name --json --sut "$address" "$@" | sed -n 's/^ *"identity": "\(.*\)",*$/\1/p'
}

command -v "${longhaul%% *}" >/dev/null ||
  stop 6 "there is no program \"${longhaul%% *}\" here; in a clone or an npm folder: --longhaul 'npx longhaul'"
before=$(name_of_sut "$@")
[ -n "$before" ] || stop 4 'the SUT does not give its name: mend it first; nothing was restarted'
printf '%s\n' "$before"
for node in $nodes; do
  address=${node#*=}
  host=${address%:*}
  # [::1] is how addresses with a port are written; ssh and others take ::1.
  case $host in '['*']') host=${host#?} host=${host%?} ;; esac
  old=$(identity "$address" "$@")
  # Without it nobody could say afterwards whether another process answers.
  [ -n "$old" ] || stop 4 "$address gives no identity in its Name; ${node%%=*} was not restarted, nor were the nodes behind it"
  command=$(replace "$(replace "$restart" '{node}' "${node%%=*}")" '{host}' "$host")
  sh -c "$command" || stop $? "${node%%=*}: \"$command\" failed; the nodes behind it are as they were"
  # shellcheck disable=SC2086
  $longhaul probe health "$address" --wait "$wait_for" "$@" ||
    stop $? "${node%%=*} does not serve; the nodes behind it are as they were"
  new=$(identity "$address" "$@")
  [ -n "$new" ] || stop 4 "$address gives no identity in its Name now: whether ${node%%=*} was restarted is not known"
  [ "$new" != "$old" ] ||
    stop 4 "${node%%=*} was not restarted: the process at $address is the one of before"
done
after=$(name_of_sut "$@")
[ "$after" = "$before" ] || stop 4 "the SUT has another name now: \"$after\""
