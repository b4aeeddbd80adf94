#!/bin/sh
# Builds the C++ gRPC peer: build-peer.sh FOLDER. Needs g++, protoc, grpc_cpp_plugin and the libraries
# (Debian: g++ protobuf-compiler-grpc libgrpc++-dev). Says what is missing and exits with 3 without them.
set -eu
out=$1
here=$(dirname "$0")
for tool in g++ protoc grpc_cpp_plugin pkg-config; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 3; }
done
pkg-config --exists grpc++ protobuf || { echo "libgrpc++-dev is not installed" >&2; exit 3; }
mkdir -p "$out"
if [ "$out/peer" -nt "$here/peer.cc" ] && [ "$out/peer" -nt "$here/echo.proto" ]; then exit 0; fi
protoc -I "$here" --cpp_out="$out" --grpc_out="$out" \
  --plugin=protoc-gen-grpc="$(command -v grpc_cpp_plugin)" echo.proto
g++ -std=c++17 -O2 -I "$out" -o "$out/peer.tmp" "$here/peer.cc" "$out/echo.pb.cc" "$out/echo.grpc.pb.cc" \
  $(pkg-config --cflags --libs grpc++ protobuf) -lpthread
mv "$out/peer.tmp" "$out/peer"
