#!/bin/bash
# The whole way on one machine, as on two: packages installed into two empty folders, two network namespaces as two hosts
# with a link between them, mutual TLS and a token, a measured run, and what the network audit says of it.
# shellcheck disable=SC2317 # Functions of a trap are reached by it.
set -euo pipefail

here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"

usage() {
  cat <<'USAGE'
Usage: try.sh [--package FILE] [--output FOLDER] [--delay-ms 1] [--rate-mbit 1000] [--benchmark digits]
              [--target-qps 100] [--min-duration 10s] [--keep]

Linux and root (network namespaces). --package is a tarball of "npm pack", which makes one here without it. --output
(default results/two-hosts-DATE-TIME) gets the run's folder; --keep leaves the two installations and says where they are.
Exit code: that of the run (0 VALID, 3 INVALID), 3 when the audit says anything else than it must, 2 for a wrong flag,
77 when this machine lacks something.
USAGE
}

fail() { printf 'try.sh: %s\n' "$1" >&2; exit "${2:-6}"; }
say() { printf '\n== %s\n' "$1"; }

package='' output="results/two-hosts-$(date +%Y%m%d-%H%M%S)" delay_ms=1 rate_mbit=1000
benchmark=digits target_qps=100 min_duration=10s keep=no
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --keep) keep=yes; shift; continue ;;
    --package | --output | --delay-ms | --rate-mbit | --benchmark | --target-qps | --min-duration)
      [ $# -ge 2 ] || fail "$1 needs a value" 2
      name="${1#--}"; name="${name//-/_}"
      printf -v "$name" '%s' "$2"
      shift 2 ;;
    *) fail "\"$1\" is no flag of this script; see --help" 2 ;;
  esac
done
for number in "--delay-ms $delay_ms" "--rate-mbit $rate_mbit"; do
  [[ ${number#* } =~ ^[0-9]+(\.[0-9]+)?$ ]] || fail "$number: a number is needed" 2
done

# What this needs; 77 is how test suites say "skipped".
[ "$(uname -s)" = Linux ] || fail 'needs Linux' 77
[ "$(id -u)" = 0 ] || fail 'needs root, for network namespaces: sudo deploy/two-hosts/try.sh' 77
for tool in ip tc openssl node npm; do
  command -v "$tool" >/dev/null || fail "needs the command $tool" 77
done

work="$(mktemp -d -t 'longhaul two hosts.XXXXXX')"
tag="$$"
near="lh$tag-lg" far="lh$tag-sut"
near_address=10.78.0.1 far_address=10.78.0.2
link_pid='' sut_pid=''

# Ends a process that this script started, and waits until it is gone.
end_process() {
  [ -n "$1" ] && kill -0 "$1" 2>/dev/null || return 0
  kill -TERM "$1"
  for _ in $(seq 100); do kill -0 "$1" 2>/dev/null || return 0; sleep 0.1; done
  kill -KILL "$1"
}

clean_up() {
  end_process "$sut_pid"
  end_process "$link_pid"
  for space in "$near" "$far"; do ip netns del "$space" 2>/dev/null || true; done
  if [ "$keep" = yes ]; then printf '\nkept: %s\n' "$work"; else rm -rf "$work"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

find_package() {
  if [ -z "$package" ]; then
    (cd "$root" && npm pack --silent --ignore-scripts --pack-destination "$work" >/dev/null)
    package="$(echo "$work"/longhaul-*.tgz)"
  fi
  [ -f "$package" ] || fail "$package: there is no such file; \"npm pack\" makes the package" 2
  package="$(realpath "$package")"
}

# install_package FOLDER [MORE]: as a user does, in an empty folder.
install_package() {
  local folder=$1
  shift
  mkdir "$work/$folder"
  # ONNX Runtime's own script would fetch GPU libraries, which nothing here needs.
  (cd "$work/$folder" && ONNXRUNTIME_NODE_INSTALL=skip npm install --silent --no-audit --no-fund "$package" "$@" >"$work/$folder.npm.log" 2>&1) ||
    { cat "$work/$folder.npm.log" >&2; fail "npm install $package $* failed"; }
  printf '%s: %s, %s on disk\n' "$folder" "$(basename "$package")${1:+ and $1}" "$(du -sh "$work/$folder" | cut -f1)"
}

make_link() {
  ip netns add "$near"
  ip netns add "$far"
  if ip link add lan0 netns "$near" type veth peer name lan0 netns "$far" 2>/dev/null &&
    delay_side "$near" "$near_address" 2>/dev/null && delay_side "$far" "$far_address" 2>/dev/null; then
    printf 'the kernel delays (netem)'
  else
    # This kernel has no netem, or no veth: a link in user space needs neither.
    ip -n "$near" link del lan0 2>/dev/null || true
    command -v python3 >/dev/null || fail 'this kernel has no netem, and the link in user space needs python3' 77
    [ -e /dev/net/tun ] || fail 'this kernel has no netem, and the link in user space needs /dev/net/tun' 77
    python3 "$here/tap-link.py" "$near" "$near_address" "$far" "$far_address" "$delay_ms" "$rate_mbit" >"$work/link.log" 2>&1 &
    link_pid=$!
    for _ in $(seq 100); do
      grep -q ready "$work/link.log" && break
      kill -0 "$link_pid" 2>/dev/null || fail "the link ended: $(cat "$work/link.log")"
      sleep 0.1
    done
    printf 'a link in user space delays (no netem in this kernel)'
  fi
  printf ': %s ms each way, %s Mbit/s, %s and %s\n' "$delay_ms" "$rate_mbit" "$near_address" "$far_address"
}

delay_side() {
  ip netns exec "$1" tc qdisc add dev lan0 root netem delay "${delay_ms}ms" rate "${rate_mbit}mbit" limit 10000 &&
    ip -n "$1" addr add "$2/24" dev lan0 && ip -n "$1" link set lo up && ip -n "$1" link set lan0 up
}

# What each host runs; each sees its own installation and its own certificates alone.
on_loadgen() { (cd "$work/loadgen" && exec ip netns exec "$near" npx --no-install longhaul "$@"); }
tls_files="--tls-cert tls/tls.crt --tls-key tls/tls.key --token-file tls/token"

start_node() {
  cd "$work/sut"
  # Not by npx, which does not pass SIGTERM on: the node drains by it.
  # shellcheck disable=SC2086 # Words without blanks, by make_certificates.
  ip netns exec "$far" node_modules/.bin/longhaul sut --benchmark "$benchmark" --node sut-a \
    --listen "$far_address:50051" $tls_files --tls-client-ca tls/ca.crt --log-level info >"$work/sut.log" 2>&1 &
  sut_pid=$!
  cd "$root"
}

measure() {
  local status=0
  # shellcheck disable=SC2086
  on_loadgen run --sut "$far_address:50051" --benchmark "$benchmark" --scenario Server --target-qps "$target_qps" \
    --min-duration "$min_duration" $tls_files --tls-ca tls/ca.crt --output "$output" || status=$?
  [ -f "$output/network_audit.json" ] || { cat "$work/sut.log" >&2; fail "the run left no audit (exit code $status)" "$status"; }
  return "$status"
}

say 'the package into two empty folders'
find_package
install_package loadgen
install_package sut "onnxruntime-node@$(node -p "require('$root/package.json').peerDependencies['onnxruntime-node']")"

say 'certificates and a token'
"$root/deploy/certificates/make-certificates.sh" "$work/tls" --sut "sut-a=$far_address"
mv "$work/tls/loadgen" "$work/loadgen/tls"
mv "$work/tls/sut-a" "$work/sut/tls"

say 'two hosts'
make_link

say 'the SUT node, on its host'
start_node
# shellcheck disable=SC2086
on_loadgen probe health "$far_address:50051" --wait 3m --tls-ca tls/ca.crt $tls_files ||
  { cat "$work/sut.log" >&2; fail 'the SUT node does not serve'; }

say 'LoadGen, on the other one'
mkdir -p "$(dirname "$output")"
output="$(realpath -m "$output")"
run_status=0
measure || run_status=$?

say 'what the network audit says'
audit_status=0
node "$here/judge-audit.mjs" "$output/network_audit.json" "$near_address" "$far_address" || audit_status=$?
printf '\nresults: %s\n' "$output"
[ "$run_status" -eq 0 ] || exit "$run_status"
exit "$audit_status"
