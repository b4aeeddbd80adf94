#!/bin/bash
# Makes, from Debian's packages and this machine's Node alone, what the Dockerfiles stand on: for machines that reach no
# registry of images. Not the official images: another list of packages, and no digest that anybody else knows.
set -euf

usage() {
  cat <<'USAGE'
Usage: local-base.sh FOLDER [--mirror URL]

Makes two root file systems of Debian 12 by debootstrap, as root, where they are not there yet:
  FOLDER/slim   Debian's smallest                 (in place of debian:12-slim)
  FOLDER/node   the same, with Node, npm, Node's headers, a C++ compiler and tini   (in place of node:24-bookworm);
                where NODE_EXTRA_CA_CERTS names certificates, npm trusts them in it

  --mirror URL  Debian's mirror; else the first one of /etc/apt

Exit codes: 0 done; 2 wrong arguments; 6 this machine cannot (not root, debootstrap, Node or its headers missing).
USAGE
}

# fail EXIT-CODE TEXT
fail() {
  printf 'local-base.sh: %s\n' "$2" >&2
  exit "$1"
}

# Debian's mirror as apt of this machine has it.
configured_mirror() {
  { cat /etc/apt/sources.list; find /etc/apt/sources.list.d -type f -exec cat {} +; } 2>/dev/null |
    grep -v '^#' | grep -oE 'https?://[^ ]*/debian(/|$| )' | head -n 1 | tr -d ' '
}

make_slim() {
  printf 'debootstrap: Debian 12 from %s\n' "$mirror"
  debootstrap --variant=minbase bookworm "$folder/slim.new" "$mirror" >"$folder/debootstrap.log" 2>&1 ||
    fail 6 "debootstrap failed: $(tail -n 2 "$folder/debootstrap.log" | tr '\n' ' ')"
  # The official slim image has none of these either.
  (
    cd "$folder/slim.new"
    rm -rf usr/share/doc usr/share/man usr/share/locale usr/share/info var/lib/apt/lists var/cache/apt
    rm -rf var/log var/cache/debconf
    mkdir -p usr/share/doc var/lib/apt/lists/partial var/cache/apt/archives/partial var/cache/debconf var/log
  )
  mv "$folder/slim.new" "$folder/slim"
}

make_node() {
  printf 'compiler, tini and Node %s\n' "$(node --version)"
  rm -rf "$folder/node.new"
  cp -a "$folder/slim" "$folder/node.new"
  chroot "$folder/node.new" /bin/sh -c 'apt-get update --quiet=2 &&
    DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends python3 make g++ tini' \
    >"$folder/apt.log" 2>&1 || fail 6 "apt-get failed: $(tail -n 2 "$folder/apt.log" | tr '\n' ' ')"
  local to=$folder/node.new/usr/local
  mkdir -p "$to/include" "$to/lib/node_modules"
  cp "$node" "$to/bin/node"
  cp -a "$prefix/include/node" "$to/include/"
  cp -a "$npm" "$to/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$to/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$to/bin/npx"
  cp "$licence" "$to/LICENSE"
  # A network that inspects TLS has an authority of its own, which npm has to trust as it does here.
  if [ -f "${NODE_EXTRA_CA_CERTS:-}" ]; then
    mkdir -p "$to/etc"
    cp "$NODE_EXTRA_CA_CERTS" "$to/etc/extra-ca.crt"
    printf 'cafile=/usr/local/etc/extra-ca.crt\n' >>"$to/etc/npmrc"
  fi
  mv "$folder/node.new" "$folder/node"
}

folder=''
mirror=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --mirror) [ $# -ge 2 ] || fail 2 '--mirror needs a URL'; mirror=$2; shift ;;
    -*) fail 2 "\"$1\" is no flag of this script; see --help" ;;
    *) [ -z "$folder" ] || fail 2 "one folder is enough: \"$1\""; folder=$1 ;;
  esac
  shift
done
[ -n "$folder" ] || { usage >&2; exit 2; }
if [ -d "$folder/slim" ] && [ -d "$folder/node" ]; then exit 0; fi
[ "$(id -u)" = 0 ] || fail 6 'debootstrap and chroot need root'
for tool in debootstrap node npm; do command -v "$tool" >/dev/null || fail 6 "$tool is not installed"; done
[ -n "$mirror" ] || mirror=$(configured_mirror)
[ -n "$mirror" ] || fail 6 'no mirror of Debian in /etc/apt: --mirror URL'
node=$(node --print process.execPath)
prefix=$(dirname "$(dirname "$node")")
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
[ -d "$prefix/include/node" ] || fail 6 "Node's headers are not in $prefix/include/node"
[ -f "$npm/bin/npm-cli.js" ] || fail 6 "npm is not in $npm"
licence=''
for file in "$prefix/LICENSE" "$prefix/share/doc/nodejs/LICENSE" "$prefix/share/doc/nodejs/copyright"; do
  if [ -f "$file" ]; then licence=$file; break; fi
done
[ -n "$licence" ] || fail 6 "Node's licence is not in $prefix"

umask 022
mkdir -p "$folder"
rm -rf "$folder/slim.new"
[ -d "$folder/slim" ] || make_slim
[ -d "$folder/node" ] || make_node
