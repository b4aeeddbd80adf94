#!/bin/sh
# Makes what LoadGen and SUT nodes need for mutual TLS and a token: an authority of one's own, a certificate for each
# node, one for LoadGen. Run again it keeps the authority and the token and makes new certificates: that is a rotation.
set -euf

usage() {
  cat <<'USAGE'
Usage: make-certificates.sh FOLDER --sut NAME=HOST[,HOST...] [--sut ...] [--loadgen NAME] [--days N] [--new-token]
                            [--owner UID:GID]

Writes, for openssl 1.1.1 or later:
  FOLDER/authority/ca.crt, ca.key    the authority; ca.key goes to nobody
  FOLDER/NAME/                       for the SUT node NAME, whose certificate holds for each HOST (name, *.name or IP address)
  FOLDER/loadgen/                    for the LoadGen node (--loadgen: another name)
Each of the last two has tls.crt, tls.key, ca.crt and token: the names of Kubernetes' TLS secrets.
Keys and token can be read by their owner alone.

  --days N          how long the certificates hold (default: 365; the authority: 3650)
  --new-token       another token: all nodes and LoadGen have to be started again with it
  --owner UID:GID   whose files those in FOLDER/NAME and FOLDER/loadgen are, for example 65532:65532, as whom longhaul's
                    containers run; as root only. The authority stays yours.

Example:
  make-certificates.sh tls --sut sut-a=10.0.0.2 --sut sut-b=10.0.0.3,sut-b.lab
  longhaul sut ... --tls-cert tls/sut-a/tls.crt --tls-key tls/sut-a/tls.key --tls-client-ca tls/sut-a/ca.crt --token-file tls/sut-a/token
  longhaul run ... --tls-ca tls/loadgen/ca.crt --tls-cert tls/loadgen/tls.crt --tls-key tls/loadgen/tls.key --token-file tls/loadgen/token

Exit codes: 0 done, 2 a wrong flag or value, 6 openssl or the folder.
USAGE
}

# wrong TEXT: what was asked for; broken TEXT: this machine.
wrong() {
  printf 'make-certificates.sh: %s\n' "$1" >&2
  exit 2
}

broken() {
  printf 'make-certificates.sh: %s\n' "$1" >&2
  exit 6
}

# Ranges such as A-Z mean ASCII, whatever the user's language.
LC_ALL=C
export LC_ALL

# Names become folders and subjects. Two of one name would overwrite each other.
check_name() {
  case $1 in
    '' | *[!A-Za-z0-9._-]* | .* | authority)
      wrong "\"$1\" is no name for a certificate: letters, digits, '.', '_' and '-' make one, and \"authority\" is taken" ;;
  esac
  [ ${#1} -le 64 ] || wrong "\"$1\" is too long for a certificate: 64 characters at most"
  case " $names " in
    *" $1 "*) wrong "\"$1\" is named twice: each node, and LoadGen, needs a name of its own" ;;
  esac
  names="$names $1"
}

# Checks NAME=HOST[,HOST...].
check_node() {
  case $1 in
    *=*) check_name "${1%%=*}" ;;
    *) wrong "--sut $1: a node is written NAME=HOST[,HOST...], for example sut-a=10.0.0.2" ;;
  esac
  case ${1#*=} in
    '' | ,* | *, | *,,* | *[!A-Za-z0-9.:*_,-]*) wrong "--sut $1: \"${1#*=}\" is no list of names and IP addresses, separated by commas" ;;
  esac
  for host in $(printf '%s' "${1#*=}" | tr ',' ' '); do check_host "$1" "$host"; done
}

# check_host NODE HOST: what openssl, or a TLS client, would take for something else.
check_host() {
  case $2 in
    *:*:*)
      case $2 in *[!0-9A-Fa-f:.]*) wrong "--sut $1: \"$2\" is no IPv6 address" ;; esac ;;
    *:*) wrong "--sut $1: \"$2\" is a host with a port; certificates are for hosts: ${2%%:*}" ;;
    *[!0-9.]*)
      case ${2#\*.} in
        *\** | .* | *. | *..* | -*) wrong "--sut $1: \"$2\" is no name of a host: sut-a.lab.org, or *.lab.org for all of them" ;;
      esac
      # TLS clients take no "*.lab".
      case $2 in
        \*.*.*) ;;
        \**) wrong "--sut $1: \"$2\" is too wide for TLS clients: *.lab.org needs two names behind the star" ;;
      esac ;;
    *) is_ipv4 "$2" || wrong "--sut $1: \"$2\" is no IPv4 address" ;;
  esac
}

# Of digits and dots only: four numbers up to 255?
is_ipv4() {
  printf '%s\n' "$1" | awk -F. '{ good = NF == 4; for (i = 1; i <= NF; i++) if ($i == "" || length($i) > 3 || $i > 255) good = 0; exit !good }'
}

# Prints HOST[,HOST...] as openssl's subjectAltName.
alternative_names() {
  for host in $(printf '%s' "$1" | tr ',' ' '); do
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
    broken "openssl $1: $said"
  fi
}

# Everything is written here first and moved when it is whole: what is killed halfway leaves neither a key without its
# certificate nor an empty token. Who finds the folder there is the second of two.
begin_work() {
  work="$folder/.new"
  mkdir -p "$folder" || broken "cannot make the folder $folder"
  mkdir "$work" || broken "$work: another make-certificates.sh is at work, or one was killed: then remove it"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  # The machine's own openssl.cnf has a say in nothing.
  cat >"$work/openssl.cnf" <<'CONF'
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
CONF
}

make_authority() {
  if [ -f "$folder/authority/ca.key" ]; then
    [ -f "$folder/authority/ca.crt" ] || broken "$folder/authority has ca.key and no ca.crt: put it back, or remove both for a new authority"
    openssl x509 -in "$folder/authority/ca.crt" -noout -checkend $((days * 86400)) >/dev/null 2>&1 ||
      broken "the authority in $folder/authority does not last for $days days: give fewer --days, or remove ca.key and ca.crt for a new one, whose certificates go to all nodes at once"
    return
  fi
  authority_days=3650
  [ "$days" -le 3650 ] || authority_days=$days
  openssl_quietly req -x509 -config "$work/openssl.cnf" -extensions authority -newkey ec -pkeyopt ec_paramgen_curve:P-256 \
    -nodes -days "$authority_days" -subj '/CN=longhaul measuring network' -keyout "$work/ca.key" -out "$work/ca.crt"
  mkdir -p "$folder/authority"
  # The key last: with it the authority is there.
  for file in ca.crt ca.key; do mv -f "$work/$file" "$folder/authority/$file"; done
}

make_token() {
  if [ "$new_token" = no ] && [ -s "$folder/authority/token" ]; then return; fi
  openssl_quietly rand -hex -out "$work/token" 32
  mv -f "$work/token" "$folder/authority/token"
}

# make_certificate NAME USAGE ALTERNATIVE-NAMES; the last may be empty.
make_certificate() {
  {
    printf 'extendedKeyUsage=%s\nkeyUsage=critical,digitalSignature\nbasicConstraints=critical,CA:FALSE\n' "$2"
    printf 'subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n'
    [ -z "$3" ] || printf 'subjectAltName=%s\n' "$3"
  } >"$work/extensions"
  openssl_quietly req -config "$work/openssl.cnf" -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
    -keyout "$work/tls.key" -out "$work/request"
  openssl_quietly x509 -req -in "$work/request" -CA "$folder/authority/ca.crt" -CAkey "$folder/authority/ca.key" \
    -set_serial "0x$(openssl rand -hex 16)" -days "$days" -extfile "$work/extensions" -out "$work/tls.crt"
  cp "$folder/authority/ca.crt" "$folder/authority/token" "$work/"
  mkdir -p "$folder/$1"
  if [ -n "$owner" ]; then
    chown "$owner" "$folder/$1"
    for file in tls.key tls.crt ca.crt token; do chown "$owner" "$work/$file"; done
  fi
  # One after the other, in the folder that a container may have mounted: a node that starts between two of these moves says
  # that key and certificate do not belong together, and has to be started again.
  for file in tls.key tls.crt ca.crt token; do mv -f "$work/$file" "$folder/$1/$file"; done
}

case ${1:-} in
  '' ) usage >&2; exit 2 ;;
  -h | --help) usage; exit 0 ;;
  -*) wrong "the folder comes first, not \"$1\"" ;;
esac
folder=${1%/}
[ -n "$folder" ] || wrong 'the folder "/" is the whole machine: give one of your own'
shift
days=365
loadgen=loadgen
new_token=no
owner=''
nodes=''
names=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --new-token) new_token=yes; shift; continue ;;
    --sut | --loadgen | --days | --owner) [ $# -ge 2 ] || wrong "$1 needs a value" ;;
    *) wrong "\"$1\" is no flag of this script; see --help" ;;
  esac
  case $1 in
    --sut)
      check_node "$2"
      nodes="$nodes $2" ;;
    --loadgen) loadgen=$2 ;;
    --days)
      case $2 in
        '' | *[!0-9]* | 0* | ??????*) wrong "--days $2: a whole number of days from 1 to 99999 is needed" ;;
        *) days=$2 ;;
      esac ;;
    --owner)
      case $2 in
        *[!0-9:]* | *:*:* | :* | *: | '') wrong "--owner $2: numbers are needed, UID:GID, for example 65532:65532" ;;
        *:*) owner=$2 ;;
        *) wrong "--owner $2: numbers are needed, UID:GID, for example 65532:65532" ;;
      esac ;;
  esac
  shift 2
done
[ -n "$nodes" ] || wrong 'no node: --sut NAME=HOST[,HOST...] is needed at least once'
check_name "$loadgen"
[ -z "$owner" ] || [ "$(id -u)" = 0 ] || wrong "--owner $owner: only root gives files away; run it by sudo"
command -v openssl >/dev/null || broken 'openssl is not installed'

# Keys and token are for their owner alone.
umask 077
begin_work
make_authority
make_token
for node in $nodes; do
  hosts="$(alternative_names "${node#*=}")"
  make_certificate "${node%%=*}" serverAuth "$hosts"
  printf '%s: SUT node, for %s\n' "$folder/${node%%=*}" "$hosts"
done
make_certificate "$loadgen" clientAuth ''
printf '%s: LoadGen node\n' "$folder/$loadgen"
