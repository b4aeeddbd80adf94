#!/bin/sh
# Measures a node on this machine and ends as the run did: 0 good, 3 not good enough, else no measurement.
# Usage: ci.sh FOLDER [command that is longhaul]
set -u
folder=$1
longhaul=${2:-npx longhaul}
mkdir -p "$folder"

# Port 0 takes a free one; the line that says "ready" has it.
$longhaul sut --benchmark null --node ci --listen 127.0.0.1:0 --json >"$folder/node.jsonl" &
node=$!
trap 'kill $node 2>/dev/null; wait $node 2>/dev/null' EXIT
until grep -q '"event":"ready"' "$folder/node.jsonl"; do
  kill -0 $node 2>/dev/null || { echo "the SUT node did not start" >&2; exit 4; }
  sleep 0.2
done
address=$(sed -n 's/.*"event":"ready".*"address":"\([^"]*\)".*/\1/p' "$folder/node.jsonl")

$longhaul run --sut "$address" --benchmark null --scenario Server --target-qps 500 --min-duration 1s --min-query-count 700 \
  --threshold 'p99 < 100ms' --threshold 'errors == 0' --output "$folder/run" --force --json >"$folder/result.json"
code=$?
# shellcheck disable=SC2016
node -e '
  const { error, result, verdict, thresholds = [] } = JSON.parse(require("node:fs").readFileSync(process.argv[1]));
  console.log(error ? `${error.code}: ${error.message}` : result);
  for (const { text, isMet, seenText } of thresholds) console.log(`${isMet ? "met    " : "NOT met"} ${text} (seen ${seenText})`);
  for (const { text } of verdict?.reasons ?? []) console.log(text);
' "$folder/result.json"
exit $code
