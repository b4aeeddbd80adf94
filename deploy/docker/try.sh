#!/bin/bash
# Builds both images from nothing and runs them as README.md says, without a daemon and without a registry: buildah
# builds, crun runs. Every line that begins with "ok" is something that was seen; the first thing that is not ends it.
set -euf

usage() {
  cat <<'USAGE'
Usage: try.sh [--base FOLDER] [--storage FOLDER [--no-build]] [--results FOLDER] [--skip-if-missing]

Builds longhaul-sut and longhaul-loadgen with build.sh, runs each in a network namespace of its own, as 65532 with a
read-only root file system, without capabilities, with mutual TLS and a token; measures; stops both by SIGTERM.
Needs root, Linux, buildah, crun, ip, openssl, Node 20 or newer, debootstrap; some 6 GB below --storage and some minutes.

  --base FOLDER       base images from there, made where they are missing (build.sh --base)
  --storage FOLDER    images are kept there; else in a folder that goes with the script
  --no-build          the images longhaul-sut:try and longhaul-loadgen:try that --storage has from before
  --results FOLDER    what LoadGen wrote is copied there, an existing folder
  --skip-if-missing   exit code 0 instead of 6 where something is missing, with a line that says SKIPPED

Exit codes: 0 all of it was seen; 1 something was not; 2 wrong flags; 6 this machine cannot.
USAGE
}

# fail EXIT-CODE TEXT
fail() {
  printf 'try.sh: %s\n' "$2" >&2
  exit "$1"
}

here=$(cd "$(dirname "$0")" && pwd)
base=debootstrap
storage=''
results=''
skip=no
build=yes
given=("$@")
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --skip-if-missing) skip=yes; shift; continue ;;
    --no-build) build=no; shift; continue ;;
    --base | --storage | --results) [ -n "${2:-}" ] || fail 2 "$1 needs a folder" ;;
    *) fail 2 "\"$1\" is no flag of this script; see --help" ;;
  esac
  case $1 in
    --base) base=$2 ;;
    --storage) storage=$2 ;;
    --results) results=$2 ;;
  esac
  shift 2
done
[ "$build" = yes ] || [ -n "$storage" ] || fail 2 '--no-build needs --storage'
[ -z "$results" ] || [ -d "$results" ] || fail 2 "--results $results: there is no such folder"

# missing TEXT
missing() {
  [ "$skip" = no ] || { printf 'SKIPPED: %s\n' "$1"; exit 0; }
  fail 6 "$1"
}

[ "$(uname -s)" = Linux ] || missing 'containers are run on Linux only'
[ "$(id -u)" = 0 ] || missing 'root is needed: it makes network namespaces and root file systems'
for tool in buildah crun ip openssl node debootstrap unshare; do
  command -v "$tool" >/dev/null || missing "$tool is not installed"
done
# crun refuses a mixture of both versions of cgroups. Mounts of this script alone, and version 2 in them.
if [ -z "${LONGHAUL_TRY_UNSHARED:-}" ]; then
  LONGHAUL_TRY_UNSHARED=1 exec unshare --mount "$0" "${given[@]}"
fi
if [ "$(stat --file-system --format %T /sys/fs/cgroup)" != cgroup2fs ]; then
  { umount --recursive /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup; } || missing 'cgroups cannot be mounted here'
fi

work=$(mktemp -d "${TMPDIR:-/var/tmp}/longhaul-try-XXXXXX")
# crun gives stdin, stdout and stderr to the container's user, and so would give it this machine's /dev/null.
{ mknod --mode=666 "$work/null" c 1 3 && mount --bind "$work/null" /dev/null && exec </dev/null; } || {
  rm -rf "$work"
  missing 'a /dev/null for these mounts alone cannot be made here'
}
storage=${storage:-$work/storage}
id=docker-$$
sut_address=10.231.77.2
loadgen_address=10.231.77.1
runtime=(crun --root "$work/crun" --cgroup-manager disabled)
images=(buildah --root "$storage/root" --runroot "$storage/run" --storage-driver "${STORAGE_DRIVER:-vfs}")

clean_up() {
  trap - EXIT
  for role in sut loadgen; do
    "${runtime[@]}" delete --force "$id-$role" 2>/dev/null || true
    ip netns del "$id-$role" 2>/dev/null || true
    [ -z "${container[$role]:-}" ] || "${images[@]}" rm "${container[$role]}" >/dev/null 2>&1 || true
  done
  rm -rf "$work"
}
declare -A container rootfs
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

ok() { printf 'ok   %s\n' "$1"; }
# wrong TEXT [LOG]
wrong() {
  [ -z "${2:-}" ] || sed 's/^/     /' "$2" >&2
  fail 1 "not seen: $1"
}

# A value of the image's configuration: config ROLE EXPRESSION
config() {
  "${images[@]}" inspect --type image "localhost/longhaul-$1:try" |
    node --print "const { config } = JSON.parse(require('node:fs').readFileSync(0)).Docker; $2"
}

# Makes the root file system of an image, and its network namespace.
unpack() {
  container[$1]=$("${images[@]}" from --pull-never "localhost/longhaul-$1:try")
  rootfs[$1]=$("${images[@]}" mount "${container[$1]}")
  ip netns add "$id-$1"
  ip -n "$id-$1" link set lo up
}

connect() {
  ip -n "$id-sut" link add name eth0 type veth peer name eth0 netns "$id-loadgen"
  ip -n "$id-sut" address add "$sut_address/24" dev eth0
  ip -n "$id-loadgen" address add "$loadgen_address/24" dev eth0
  for role in sut loadgen; do ip -n "$id-$role" link set eth0 up; done
}

# start ROLE LOG ARGUMENTS...: sets `pid`.
start() {
  local role=$1 log=$2 mounts=()
  shift 2
  [ "$role" = sut ] || mounts=(--mount "$work/results:/results")
  mkdir -p "$work/bundle-$role"
  "${images[@]}" inspect --type image "localhost/longhaul-$role:try" |
    node "$here/oci-config.mjs" --rootfs "${rootfs[$role]}" --netns "/run/netns/$id-$role" --tmpfs /tmp \
      --mount "$work/cache-$role:/var/cache/longhaul" --mount "$work/tls/$role:/etc/longhaul/tls:ro" \
      "${mounts[@]}" -- "$@" >"$work/bundle-$role/config.json"
  "${runtime[@]}" run --bundle "$work/bundle-$role" "$id-$role" >"$log" 2>&1 &
  pid=$!
}

inside() {
  local role=$1
  shift
  "${runtime[@]}" exec --user 65532:65532 --no-new-privs "$id-$role" "$@" 2>"$work/exec.log"
}

# until_true SECONDS COMMAND...: as long as the container started last runs.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt "$end" ] && kill -0 "$pid" 2>/dev/null || return 1
    sleep 0.3
  done
}

# end_of PID: sets `code`, its exit code. Only the shell that started it can wait for it.
end_of() {
  code=0
  wait "$1" || code=$?
}

check_rights() {
  local role=$1 said
  # Of the init and of the program behind it: "exec" has rights of its own.
  said=$(inside "$role" /bin/sh -c 'grep -hE "^(Uid|Gid|CapEff|CapBnd|NoNewPrivs)" /proc/1/status /proc/[2-9]/status | tr -s "\t " " " | sort -u')
  [ "$said" = "$(printf '%s\n' 'CapBnd: 0000000000000000' 'CapEff: 0000000000000000' 'Gid: 65532 65532 65532 65532' 'NoNewPrivs: 1' 'Uid: 65532 65532 65532 65532')" ] ||
    wrong "$role: user 65532 without capabilities; it has: $said"
  if inside "$role" /bin/sh -c 'touch /opt/longhaul/file || touch /etc/file || touch /file'; then
    wrong "$role: a read-only root file system"
  fi
  [ -z "$(find "${rootfs[$role]}" -xdev -perm /6000 -type f)" ] || wrong "$role: no program that gives rights"
  ok "$role: user 65532:65532, no capability, no new privileges, no setuid program, root file system read-only"
}

# A process whose parent is gone is given to process 1, which has to reap it.
check_reaping() {
  inside sut /bin/sh -c '(sleep 0.2 & ) ; exit 0' >/dev/null
  sleep 1
  # shellcheck disable=SC2016 # For the shell inside.
  inside sut /bin/bash -c 'for f in /proc/[0-9]*/stat; do read -r _ _ state _ <"$f" && [ "$state" = Z ] && exit 1; done; exit 0' >/dev/null ||
    wrong 'sut: no zombie is left'
  [ "$(inside sut cat /proc/1/comm)" = tini ] || wrong 'sut: tini is process 1'
  ok 'sut: tini is process 1 and reaps what others leave'
}

check_writes() {
  local files
  files=$(inside sut find /tmp -type f)
  [ -z "$files" ] || wrong "sut: nothing is written to /tmp; there is: $files"
  files=$(find "$work/cache-sut" -mindepth 1 -maxdepth 1 -not -name 'digits-*')
  [ -z "$files" ] || wrong "sut: the cache holds the model alone; there is: $files"
  ok 'sut: wrote the model into its cache and no other file, so no telemetry either'
}

[ "$build" = no ] || "$here/build.sh" --base "$base" --storage "$storage" --tag try
[ "$(config sut 'config.Healthcheck.Test[0]')" = CMD ] || wrong 'sut: the image has its health check'
[ "$(config loadgen 'config.Healthcheck.Test[0]')" = NONE ] || wrong 'loadgen: the image has no health check'
for role in sut loadgen; do
  ports=50051/tcp,50052/tcp,9464/tcp
  [ "$role" = sut ] || ports=8080/tcp,9465/tcp
  [ "$(config $role '[config.User, config.StopSignal, config.Entrypoint[0], Object.keys(config.ExposedPorts).sort()].join(" ")')" = \
    "65532:65532 SIGTERM /usr/local/bin/tini $ports" ] || wrong "$role: its user, signal, init and ports"
done
[ "$(config loadgen 'Object.keys(config.Labels).filter((key) => key.startsWith("org.opencontainers.image.")).length')" = 6 ] ||
  wrong 'loadgen: the image has its labels'
unpack sut
unpack loadgen
connect
[ ! -e "${rootfs[loadgen]}/opt/longhaul/node_modules/onnxruntime-node" ] || wrong 'loadgen: no ONNX Runtime'
for role in sut loadgen; do
  for tool in local/bin/npm bin/g++ bin/python3; do
    [ ! -e "${rootfs[$role]}/usr/$tool" ] || wrong "$role: no /usr/$tool"
  done
  [ "$(config $role 'config.Env.filter((one) => one === "ORT_DISABLE_TELEMETRY=1").length')" = 1 ] || wrong "$role: no telemetry"
  ok "$role: $(du --apparent-size -sm "${rootfs[$role]}" | cut -f1) MB, of these /opt/longhaul $(du --apparent-size -sm "${rootfs[$role]}/opt/longhaul" | cut -f1) MB, node $(du --apparent-size -sm "${rootfs[$role]}/usr/local/bin/node" | cut -f1) MB; neither npm nor a compiler"
done

"$here/../certificates/make-certificates.sh" "$work/certificates" --sut "sut-a=$sut_address" >/dev/null
mkdir -p "$work/tls" "$work/results" "$work/cache-sut" "$work/cache-loadgen"
cp -r "$work/certificates/sut-a" "$work/tls/sut"
cp -r "$work/certificates/loadgen" "$work/tls/loadgen"
chmod 755 "$work" "$work/tls"
chown -R 65532:65532 "$work/tls/sut" "$work/tls/loadgen" "$work/results" "$work/cache-sut" "$work/cache-loadgen"
tls=/etc/longhaul/tls
readonly tls

start sut "$work/sut.log" sut --benchmark digits --node sut-a --listen 0.0.0.0:50051 --health-listen 127.0.0.1:50052 \
  --tls-cert $tls/tls.crt --tls-key $tls/tls.key --tls-client-ca $tls/ca.crt --token-file $tls/token
sut=$pid
mapfile -t probe < <(config sut 'config.Healthcheck.Test.slice(1).join("\n")')
until_true 120 inside sut "${probe[@]}" || wrong 'sut: its health check says SERVING' "$work/sut.log"
ok "sut: the image's health check says: $(inside sut "${probe[@]}")"
check_rights sut
inside sut longhaul loadgen self-check >"$work/self-check" || wrong 'sut: longhaul loadgen self-check' "$work/self-check"
ok "sut: longhaul loadgen self-check: $(tail -n 1 "$work/self-check")"

target=(--sut "$sut_address:50051" --tls-ca "$tls/ca.crt" --tls-cert "$tls/tls.crt" --tls-key "$tls/tls.key" --token-file "$tls/token")
measure=(--benchmark digits --scenario Server --target-qps 20)
start loadgen "$work/run.log" run "${target[@]}" "${measure[@]}" --min-duration 5s --output /results/first
until_true 60 inside loadgen true || wrong 'loadgen: it starts' "$work/run.log"
check_rights loadgen
end_of "$pid"
verdict=$(sed -nE 's/^((IN)?VALID) .*/\1/p' "$work/run.log")
case $code:$verdict in
  0:VALID*) ;;
  # An honest answer of a busy machine; the rules that were not met stand in the log.
  3:INVALID*) grep -A4 '^INVALID' "$work/run.log" ;;
  *) wrong "loadgen: a run with a verdict; exit code $code" "$work/run.log" ;;
esac
ok "loadgen: measured the SUT over mutual TLS with a token: $verdict (exit code $code)"
for file in mlperf_log_summary.txt mlperf_log_detail.txt network_audit.json longhaul_report.html; do
  [ "$(stat --format %u:%g "$work/results/first/$file")" = 65532:65532 ] || wrong "loadgen: $file in the results, owned by 65532"
done
ok 'loadgen: results on the mounted folder, owned by 65532:65532'
grep -q "$sut_address" "$work/results/first/network_audit.json" || wrong 'loadgen: the audit has the address of the SUT'
ok "loadgen: the audit has the SUT's own address, $sut_address"
check_reaping
check_writes

start loadgen "$work/second.log" run "${target[@]}" "${measure[@]}" --min-duration 60s --output /results/second
until_true 60 test -s "$work/results/second/mlperf_log_detail.txt" || wrong 'loadgen: a second run starts' "$work/second.log"
sleep 2
"${runtime[@]}" kill "$id-loadgen" TERM
end_of "$pid"
[ "$code" = 143 ] || wrong "loadgen: SIGTERM ends a run with exit code 143; it was $code" "$work/second.log"
ok 'loadgen: SIGTERM reached the run: exit code 143, and its logs are there'

# It says what it lacks, and where to get it.
start loadgen "$work/lacking.log" sut --benchmark digits --listen 127.0.0.1:50051
end_of "$pid"
{ [ "$code" = 6 ] && grep -q onnxruntime-node "$work/lacking.log"; } ||
  wrong "loadgen: a SUT of a model is refused with exit code 6; it was $code" "$work/lacking.log"
ok "loadgen: a SUT of a model is refused: $(grep -m 1 onnxruntime-node "$work/lacking.log" | cut -c1-100)..."

"${runtime[@]}" kill "$id-sut" TERM
end_of "$sut"
[ "$code" = 0 ] || wrong "sut: SIGTERM drains it with exit code 0; it was $code" "$work/sut.log"
ok 'sut: SIGTERM drained the node: exit code 0'
[ -z "$results" ] || cp -r "$work/results/." "$results/"
printf 'all of it was seen\n'
