#!/bin/sh
# Builds the C++ gRPC pair for an open load: build-open-loop.sh PROGRAM. Needs g++ and the library
# (Debian: g++ libgrpc++-dev). Says what is missing and exits with 3 without them.
set -eu
out=$1
here=$(dirname "$0")
for tool in g++ pkg-config; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 3; }
done
pkg-config --exists grpc++ || { echo "libgrpc++-dev is not installed" >&2; exit 3; }
if [ "$out" -nt "$here/open-loop.cc" ]; then exit 0; fi
g++ -std=c++17 -O2 -o "$out.tmp" "$here/open-loop.cc" $(pkg-config --cflags --libs grpc++) -lpthread
mv "$out.tmp" "$out"
