#!/bin/sh
# Makes what LoadGen and SUT nodes need for mutual TLS and a token: an authority of one's own, a certificate for each
# node, one for LoadGen. Run again it keeps the authority and the token and makes new certificates: that is a rotation.
set -euf

usage() {
  cat <<'USAGE'
Usage: make-certificates.sh FOLDER --sut NAME=HOST[,HOST...] [--sut ...] [--loadgen NAME] [--days N] [--new-token]

Writes, for openssl 1.1.1 or later:
  FOLDER/authority/ca.crt, ca.key    the authority; ca.key goes to nobody
  FOLDER/NAME/                       for the SUT node NAME, whose certificate holds for each HOST (name, *.name or IP address)
  FOLDER/loadgen/                    for the LoadGen node (--loadgen: another name)
Each of the last two has tls.crt, tls.key, ca.crt and token: the names of Kubernetes' TLS secrets.

Example:
  make-certificates.sh tls --sut sut-a=10.0.0.2 --sut sut-b=10.0.0.3,sut-b.lab
  longhaul sut ... --tls-cert tls/sut-a/tls.crt --tls-key tls/sut-a/tls.key --tls-client-ca tls/sut-a/ca.crt --token-file tls/sut-a/token
  longhaul run ... --tls-ca tls/loadgen/ca.crt --tls-cert tls/loadgen/tls.crt --tls-key tls/loadgen/tls.key --token-file tls/loadgen/token
USAGE
}

fail() {
  printf 'make-certificates.sh: %s\n' "$1" >&2
  exit 2
}

# Names become folders and subjects.
check_name() {
  case $1 in
    '' | *[!A-Za-z0-9._-]* | .* | authority)
      fail "\"$1\" is no name for a certificate: letters, digits, '.', '_' and '-' make one, and \"authority\" is taken" ;;
  esac
}

# Checks NAME=HOST[,HOST...].
check_node() {
  case $1 in
    *=*) check_name "${1%%=*}" ;;
    *) fail "--sut $1: a node is written NAME=HOST[,HOST...], for example sut-a=10.0.0.2" ;;
  esac
  case ${1#*=} in
    '' | ,* | *, | *,,* | *[!A-Za-z0-9.:*_,-]*) fail "--sut $1: \"${1#*=}\" is no list of names and IP addresses, separated by commas" ;;
  esac
}

# Prints HOST[,HOST...] as openssl's subjectAltName.
alternative_names() {
  printf '%s' "$1" | tr ',' '\n' | while IFS= read -r host || [ -n "$host" ]; do
    case $host in
      *:*) printf 'IP:%s\n' "$host" ;;
      *[!0-9.]*) printf 'DNS:%s\n' "$host" ;;
      *) printf 'IP:%s\n' "$host" ;;
    esac
  done | paste -sd, -
}

# Runs openssl and shows what it said only where it failed.
openssl_quietly() {
  if ! said="$(openssl "$@" 2>&1)"; then
    fail "openssl $1: $said"
  fi
}

make_authority() {
  [ -f "$folder/authority/ca.key" ] && return
  mkdir -p "$folder/authority"
  openssl_quietly req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days "$days" \
    -subj '/CN=longhaul measuring network' -addext 'keyUsage=critical,keyCertSign,cRLSign' \
    -keyout "$folder/authority/ca.key" -out "$folder/authority/ca.crt"
}

make_token() {
  if [ "$new_token" = no ] && [ -f "$folder/authority/token" ]; then return; fi
  openssl rand -hex 32 >"$folder/authority/token"
}

# make_certificate NAME USAGE ALTERNATIVE-NAMES; the last may be empty.
make_certificate() {
  mkdir -p "$folder/$1"
  # Written beside and moved into place: a node that starts meanwhile reads the old pair or the new one.
  new="$folder/$1/.new"
  rm -rf "$new"
  mkdir "$new"
  {
    printf 'extendedKeyUsage=%s\nkeyUsage=critical,digitalSignature\nbasicConstraints=critical,CA:FALSE\n' "$2"
    [ -z "$3" ] || printf 'subjectAltName=%s\n' "$3"
  } >"$new/extensions"
  openssl_quietly req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
    -keyout "$new/tls.key" -out "$new/request"
  openssl_quietly x509 -req -in "$new/request" -CA "$folder/authority/ca.crt" -CAkey "$folder/authority/ca.key" \
    -set_serial "0x$(openssl rand -hex 16)" -days "$days" -extfile "$new/extensions" -out "$new/tls.crt"
  cp "$folder/authority/ca.crt" "$folder/authority/token" "$new/"
  for file in tls.key tls.crt ca.crt token; do mv "$new/$file" "$folder/$1/$file"; done
  rm -rf "$new"
}

case ${1:-} in
  '' ) usage >&2; exit 2 ;;
  -h | --help) usage; exit 0 ;;
  -*) fail "the folder comes first, not \"$1\"" ;;
esac
folder=$1
shift
days=365
loadgen=loadgen
new_token=no
nodes=''
while [ $# -gt 0 ]; do
  case $1 in
    --new-token) new_token=yes; shift; continue ;;
    --sut | --loadgen | --days) [ $# -ge 2 ] || fail "$1 needs a value" ;;
    *) fail "\"$1\" is no flag of this script; see --help" ;;
  esac
  case $1 in
    --sut)
      check_node "$2"
      nodes="$nodes $2" ;;
    --loadgen) loadgen=$2 ;;
    --days)
      case $2 in
        '' | *[!0-9]* | 0*) fail "--days $2: a whole number of days above 0 is needed" ;;
        *) days=$2 ;;
      esac ;;
  esac
  shift 2
done
[ -n "$nodes" ] || fail 'no node: --sut NAME=HOST[,HOST...] is needed at least once'
command -v openssl >/dev/null || fail 'openssl is not installed'
check_name "$loadgen"

# Keys and token are for their owner alone.
umask 077
mkdir -p "$folder"
make_authority
make_token
for node in $nodes; do
  names="$(alternative_names "${node#*=}")"
  make_certificate "${node%%=*}" serverAuth "$names"
  printf '%s: SUT node, for %s\n' "$folder/${node%%=*}" "$names"
done
make_certificate "$loadgen" clientAuth ''
printf '%s: LoadGen node\n' "$folder/$loadgen"
