#!/bin/bash
# Asks a SUT node on this machine for its health by gRPC, without a program of its own: Node's start alone would take
# ten times the processor time, on the cores that are measured. HTTP/2 and gRPC are few bytes where the question is fixed.
set -uf
export LC_ALL=C

if [ $# -eq 0 ] || [ "$1" = --help ] || [ "$1" = -h ]; then
  printf 'Usage: longhaul-health-check PORT [PORT...]\n\n'
  printf 'Asks grpc.health.v1 on 127.0.0.1, in plain text, at the first port that takes a connection: exit code 0 where\n'
  printf 'it says SERVING, 3 where it says anything else, 4 where nothing answers within 3 s, 2 for a wrong argument.\n'
  if [ $# -gt 0 ]; then exit 0; else exit 2; fi
fi

# say EXIT-CODE TEXT
say() {
  printf '%s\n' "$2"
  exit "$1"
}

# Reads one byte into `byte` as a number. Bash keeps no NUL: it reads them as an empty string.
read_byte() {
  local character=''
  IFS= read -r -d '' -n 1 -t 3 -u 3 character || [ -n "$character" ] || return 1
  if [ -z "$character" ]; then byte=0; else printf -v byte '%d' "'$character"; byte=$((byte & 255)); fi
}

# Reads COUNT bytes into the array `bytes`.
read_bytes() {
  bytes=()
  while [ ${#bytes[@]} -lt "$1" ]; do
    read_byte || return 1
    bytes+=("$byte")
  done
}

# Reads frames until the answer or the end: sets `status`, the enum of HealthCheckResponse.
read_answer() {
  local length type flags
  while read_bytes 9; do
    length=$(((bytes[0] << 16) + (bytes[1] << 8) + bytes[2])) type=${bytes[3]} flags=${bytes[4]}
    [ "$length" -le 16384 ] || return 1
    read_bytes "$length" || return 1
    # DATA: five bytes of gRPC, then field 1 as a varint; a message without it says 0, UNKNOWN.
    if [ "$type" = 0 ]; then
      status=0
      if [ "$length" -ge 7 ] && [ "${bytes[5]}" = 8 ]; then status=${bytes[6]}; fi
      return 0
    fi
    # RST_STREAM, GOAWAY, or headers that end the stream: there is no answer.
    if [ "$type" = 3 ] || [ "$type" = 7 ]; then return 1; fi
    if [ "$type" = 1 ] && [ $((flags & 1)) = 1 ]; then return 1; fi
  done
  return 1
}

# The preface, empty SETTINGS; HEADERS of 75 bytes (POST, http, path, authority, content-type, te, all without Huffman
# coding); DATA that ends the stream with an empty HealthCheckRequest: the whole node.
ask() {
  printf 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0'
  printf '\0\0\113\1\4\0\0\0\1\203\206\4\034/grpc.health.v1.Health/Check\1\011localhost'
  printf '\017\020\020application/grpc\0\2te\010trailers'
  printf '\0\0\5\0\1\0\0\0\1\0\0\0\0\0'
}

for port in "$@"; do
  case $port in
    '' | *[!0-9]* | ??????*) say 2 "longhaul-health-check: \"$port\" is no port" ;;
  esac
done
for port in "$@"; do
  { exec 3<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null || continue
  # A node that hangs up meanwhile must not end this by SIGPIPE.
  trap '' PIPE
  status=none
  if { ask >&3; } 2>/dev/null; then read_answer || true; fi
  case $status in
    1) say 0 "SERVING (port $port)" ;;
    none) say 4 "no answer at port $port: with TLS there, give the node --health-listen 127.0.0.1:50052" ;;
    *) say 3 "not serving: status $status (port $port)" ;;
  esac
done
say 4 "nothing listens on 127.0.0.1 at port $*"
