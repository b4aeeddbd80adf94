#!/usr/bin/env bash
# Runs the whole suite of the last commit on other lines of Node.js, each in a fresh clone with an
# installation of its own (lz4 is compiled for that Node.js). Linux; needs git, python3, make and a C++ compiler.
# Usage: npm run test:nodes [-- VERSION...]    (default: 22 24 26)
set -euo pipefail
cd "$(dirname "$0")/../.."

npm_cli="${npm_execpath:-$(readlink -f "$(command -v npm)")}"
case "$(uname -m)" in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; *) echo "no package of Node.js for $(uname -m)" >&2; exit 2 ;; esac
[ $# -gt 0 ] || set -- 22 24 26

# Not below /tmp: systemd units do not see it, and the test of their installer says so.
work="$(mktemp -d -p /var/tmp)"
trap 'rm -rf "$work"' EXIT
status=0
lines=()
for version in "$@"; do
  home="$work/node-$version"
  node "$npm_cli" install --silent --no-save --ignore-scripts --prefix "$home" "node-linux-$arch@$version"
  program="$home/node_modules/node-linux-$arch"
  clone="$work/longhaul-$version"
  git clone --quiet . "$clone"
  result="$work/result-$version.json"
  (
    cd "$clone"
    export PATH="$program/bin:$PATH" npm_config_nodedir="$program"
    node --version
    node "$npm_cli" ci --silent
    node -e "require('lz4')" # Compiled for this Node.js, and for no other.
    node "$npm_cli" test -- --reporter=default --reporter=json --outputFile.json="$result"
  ) || status=1
  lines+=("Node.js $version: $(node -e '
    const { existsSync, readFileSync } = require("node:fs");
    if (!existsSync(process.argv[1])) { console.log("ended before its tests"); process.exit(); }
    const { numPassedTests: passed, numFailedTests: failed, numTotalTests: all } = JSON.parse(readFileSync(process.argv[1], "utf8"));
    console.log(`${passed} passed, ${failed} failed, ${all - passed - failed} skipped`);
  ' "$result")")
done
printf '%s\n' "${lines[@]}"
exit "$status"
