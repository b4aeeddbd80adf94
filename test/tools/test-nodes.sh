#!/usr/bin/env bash
# Runs the whole suite of the last commit (npm test, npm run test:all) on other lines of Node.js, each in a fresh clone with an
# installation of its own (lz4 is compiled for that Node.js). Linux; needs git, python3, make and a C++ compiler.
# Usage: npm run test:nodes [-- VERSION...]    (default: 22 24 26)
# A part that has passed for this commit is not run again: after an interruption the same command goes on. LONGHAUL_NODES
# is the folder of clones and results (default: /var/tmp/longhaul-nodes, 2 GB; it stays, remove it to begin anew).
# LONGHAUL_PART_LIMIT bounds each part (default: 90m).
set -euo pipefail
cd "$(dirname "$0")/../.."

npm_cli="${npm_execpath:-$(readlink -f "$(command -v npm)")}"
case "$(uname -m)" in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; *) echo "no package of Node.js for $(uname -m)" >&2; exit 2 ;; esac
[ $# -gt 0 ] || set -- 22 24 26
for version in "$@"; do
  [[ "$version" =~ ^[0-9]+(\.[0-9]+)*$ ]] || { echo "$version is no version of Node.js, such as 24" >&2; exit 2; }
done

# Not below /tmp: systemd units do not see it, and the test of their installer says so.
work="${LONGHAUL_NODES:-/var/tmp/longhaul-nodes}/$(git rev-parse --short=12 HEAD)"
limit="${LONGHAUL_PART_LIMIT:-90m}"
mkdir -p "$work"

# What a part's report says, with the tests that failed. Fails unless there is one and all passed.
told() {
  node -e '
    const { existsSync, readFileSync } = require("node:fs");
    const [file, part] = process.argv.slice(1);
    if (!existsSync(file)) { console.log(`  ${part}: no report; it failed before its tests, or took longer than it may`); process.exit(1); }
    const { success, numPassedTests: passed, numFailedTests: failed, numTotalTests: all, testResults } = JSON.parse(readFileSync(file, "utf8"));
    console.log(`  ${part}: ${passed} passed, ${failed} failed, ${all - passed - failed} skipped`);
    for (const { name, status, message, assertionResults } of testResults) {
      const lost = assertionResults.filter((one) => one.status === "failed").map(({ fullName }) => fullName);
      if (status === "failed" && lost.length === 0) lost.push(message.split("\n")[0]);
      for (const what of lost) console.log(`    failed: ${name}: ${what}`);
    }
    process.exit(success ? 0 : 1);
  ' "$1" "$2"
}

# Installs a version and makes a clone for it, each once.
prepare() {
  local version="$1" program="$2" clone="$3"
  [ -x "$program/bin/node" ] ||
    node "$npm_cli" install --silent --no-save --ignore-scripts --prefix "$work/node-$version" "node-linux-$arch@$version" ||
    return
  [ ! -e "$clone.ready" ] || return 0
  # lz4 is compiled for this Node.js, and for no other.
  rm -rf "$clone" &&
    git clone --quiet . "$clone" &&
    (
      cd "$clone" &&
        export PATH="$program/bin:$PATH" npm_config_nodedir="$program" &&
        node "$npm_cli" ci --silent &&
        node -e "require('lz4')"
    ) &&
    touch "$clone.ready"
}

status=0
lines=()
for version in "$@"; do
  program="$work/node-$version/node_modules/node-linux-$arch"
  clone="$work/longhaul-$version"
  if ! prepare "$version" "$program" "$clone"; then
    lines+=("Node.js $version: cannot be installed")
    status=1
    continue
  fi
  lines+=("Node.js $("$program/bin/node" --version):")
  for part in test test:all; do
    result="$work/result-$version-${part//:/-}.json"
    if ! told "$result" "$part" >/dev/null; then
      rm -f "$result"
      (
        cd "$clone"
        export PATH="$program/bin:$PATH" npm_config_nodedir="$program"
        timeout --kill-after=1m "$limit" \
          node "$npm_cli" run "$part" -- --reporter=default --reporter=json --outputFile.json="$result"
      ) || true # Its report tells.
    fi
    lines+=("$(told "$result" "$part")") || status=1
  done
done
printf '%s\n' "${lines[@]}"
exit "$status"
