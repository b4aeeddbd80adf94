#!/bin/sh
# Writes nodes.yaml of an overlay: the number of SUT nodes and the address of each, which must agree.
set -euf

usage() {
  cat <<'USAGE'
Usage: set-nodes.sh OVERLAY NUMBER

Writes overlays/OVERLAY/nodes.yaml (OVERLAY may be a folder too): NUMBER pods longhaul-sut-0, longhaul-sut-1, ... and the
list of their addresses for LoadGen.

Example:
  deploy/kubernetes/set-nodes.sh cpu 3
  kubectl apply -k deploy/kubernetes/overlays/cpu
USAGE
}

fail() {
  printf 'set-nodes.sh: %s\n' "$1" >&2
  exit 2
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  '') usage >&2; exit 2 ;;
esac
[ $# -eq 2 ] || fail 'an overlay and a number are needed; see --help'

here=$(cd "$(dirname "$0")" && pwd)
folder=$here/overlays/$1
[ -d "$folder" ] || folder=$1
[ -f "$folder/kustomization.yaml" ] || fail "there is no overlay \"$1\": $folder/kustomization.yaml is missing"
case $2 in
  '' | *[!0-9]* | 0*) fail "\"$2\" is no number of SUT nodes: a whole number above 0 is needed" ;;
esac
[ "${#2}" -le 3 ] || fail "$2 SUT nodes are more than 999"

list=''
node=0
while [ "$node" -lt "$2" ]; do
  list="$list${list:+,}longhaul-sut-$node.longhaul-sut.\$(POD_NAMESPACE).svc:50051"
  node=$((node + 1))
done

# Written beside and moved into place.
new=$folder/.nodes.yaml.new
cat >"$new" <<YAML
# Written by set-nodes.sh: how many SUT nodes there are, and the address of each. Not an object of the cluster.
apiVersion: v1
kind: ConfigMap
metadata:
  name: longhaul-nodes
  annotations:
    config.kubernetes.io/local-config: 'true'
data:
  replicas: '$2'
  sut: $list
YAML
mv "$new" "$folder/nodes.yaml"
printf '%s: %s SUT node(s)\n' "$folder/nodes.yaml" "$2"
