#!/bin/sh
# Runs a benchmark, accuracy and then performance, and prints the wall-clock time of the run. The folders of benchmarks
# have a script of this name each, which call this one; ABOUT_DATA, ABOUT_MODEL, ROUND, MIN_DURATION and MIN_COUNT are words of theirs for the usage.
set -eu

usage() {
  cat >&2 <<USAGE
usage: run_and_time.sh DATA MODEL [flag of "longhaul run"]...

  DATA    ${ABOUT_DATA:-folder with val_map.txt and the validation images of ImageNet 2012}, or standin
  MODEL   file of the model, or ${ABOUT_MODEL:-standin, or standin-int8}

Environment:
  SUT     address of a SUT node that runs already, for example 10.0.0.2:50051; MODEL is not used then
          (default: a node is started on this machine, and ended again)
  PORT    port of the node that is started (default: 50051)
  SUTFLAGS   flags for it, for example "--threads-per-worker 2 --batch-size-max 8"

Offline at 10 samples/s expected, where nothing else is said. Flags of an official run:
  --round ${ROUND:-v4.1} --scenario Offline --target-qps QPS --min-duration ${MIN_DURATION:-600s} --min-query-count ${MIN_COUNT:-24576}
USAGE
  exit 2
}

[ "$#" -ge 3 ] || usage
benchmark=$1
data=$2
model=$3
shift 3

# Beside the compiled code of this copy, wherever that lies.
main=$(dirname "$0")/../../../../dist/loadgen-node/main.js
[ -f "$main" ] || { echo "run_and_time.sh: $main is missing: run npm ci" >&2; exit 6; }

node=
stop_node() {
  [ -z "$node" ] || { kill "$node" 2>/dev/null && wait "$node" || true; }
}
trap stop_node EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -z "${SUT:-}" ]; then
  SUT=127.0.0.1:${PORT:-50051}
  # Another node may have the port: a name that nobody else has tells them apart.
  name=sut-local-$$
  # shellcheck disable=SC2086 # Flags are several words.
  node --min-semi-space-size=16 "$main" sut --benchmark "$benchmark" --model "$model" --listen "$SUT" --node "$name" \
    ${SUTFLAGS:-} &
  node=$!
  # It answers before its model is there; the run waits for that.
  until node --min-semi-space-size=16 "$main" probe name --sut "$SUT" 2>/dev/null | grep -q "$name"; do
    kill -0 "$node" 2>/dev/null || {
      code=4
      wait "$node" || code=$?
      node=
      echo "run_and_time.sh: the SUT node ended" >&2
      exit "$code"
    }
    sleep 1
  done
fi

begin=$(date +%s)
code=0
node --min-semi-space-size=16 "$main" run --sut "$SUT" --benchmark "$benchmark" --data-dir "$data" --scenario Offline \
  --target-qps 10 --mode submission --ready-timeout 1800s --verbose "$@" || code=$?
end=$(date +%s)
echo "Wall-clock time of the run, from checking the data set to its last log: $((end - begin)) s"
exit "$code"
