#!/bin/sh
# Builds the sleep-until loop: build-sleep-loop.sh PROGRAM. Needs g++; exits with 3 without it.
set -eu
command -v g++ >/dev/null || { echo "g++ is not installed" >&2; exit 3; }
here=$(dirname "$0")
if [ "$1" -nt "$here/sleep-loop.cc" ]; then exit 0; fi
g++ -std=c++17 -O2 -o "$1.tmp" "$here/sleep-loop.cc"
mv "$1.tmp" "$1"
