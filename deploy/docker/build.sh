#!/bin/bash
# Builds the images of both halves with docker, podman or buildah.
set -euf

usage() {
  cat <<'USAGE'
Usage: build.sh [flags]

Builds longhaul-sut:VERSION and longhaul-loadgen:VERSION from this checkout, and prints their sizes.

  --engine docker|podman|buildah   else the first of them that works
  --only sut|loadgen               one image
  --tag TAG                        else the version in package.json
  --node-image IMAGE               what compiles, and whose Node goes into the images; best with a digest (README.md)
  --base-image IMAGE               what the images stand on, likewise
  --cuda                           the SUT image with ONNX Runtime's CUDA libraries (from NuGet), on NVIDIA's base image
                                   unless --base-image says another; the tag gets "-cuda"
  --base FOLDER|debootstrap        base images made here from Debian's packages by local-base.sh, for machines without a
                                   registry: kept in FOLDER and used again from there; "debootstrap": made anew, not kept.
                                   Needs buildah and root
  --storage FOLDER                 buildah's images and containers there, instead of where it keeps them
  --print                          print the engine's commands, and run nothing
  --skip-if-missing                exit code 0 instead of 6 where there is no engine, with a line that says SKIPPED

Exit codes: 0 built (or skipped by --skip-if-missing); 1 a build failed; 2 wrong flags; 6 this machine has no engine that
works, or no local base can be made here.
USAGE
}

# fail EXIT-CODE TEXT
fail() {
  printf 'build.sh: %s\n' "$2" >&2
  exit "$1"
}

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
engine=''
only=''
tag=''
node_image=''
base_image=''
cuda=no
base=''
storage=''
print=no
skip=no

while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --cuda) cuda=yes; shift; continue ;;
    --print) print=yes; shift; continue ;;
    --skip-if-missing) skip=yes; shift; continue ;;
    --engine | --only | --tag | --node-image | --base-image | --base | --storage) [ -n "${2:-}" ] || fail 2 "$1 needs a value" ;;
    *) fail 2 "\"$1\" is no flag of this script; see --help" ;;
  esac
  case $1 in
    --engine) engine=$2 ;;
    --only) only=$2 ;;
    --tag) tag=$2 ;;
    --node-image) node_image=$2 ;;
    --base-image) base_image=$2 ;;
    --base) base=$2 ;;
    --storage) storage=$2 ;;
  esac
  shift 2
done
case $engine in '' | docker | podman | buildah) ;; *) fail 2 "--engine $engine: docker, podman or buildah" ;; esac
case $only in '' | sut | loadgen) ;; *) fail 2 "--only $only: sut or loadgen" ;; esac
[ "$cuda" = no ] || [ "$only" != loadgen ] || fail 2 '--cuda: the LoadGen image runs no model'
[ -z "$storage" ] || [ -z "$engine" ] || [ "$engine" = buildah ] || fail 2 '--storage is for buildah'
if [ -n "$base" ]; then
  [ -z "$engine" ] || [ "$engine" = buildah ] || fail 2 "--base needs buildah, not $engine"
  [ -z "$node_image$base_image" ] || fail 2 '--base makes both base images: not with --node-image or --base-image'
  [ "$cuda" = no ] || fail 2 "--cuda needs NVIDIA's base image: not with --base"
fi
if [ -n "$base$storage" ]; then engine=buildah; fi

# A client without a daemon is no engine.
works() {
  command -v "$1" >/dev/null || return 1
  case $1 in
    docker) docker version --format '{{.Server.Version}}' >/dev/null 2>&1 ;;
    *) "$1" version >/dev/null 2>&1 ;;
  esac
}

# An asked one only, or the first.
choose_engine() {
  local one
  for one in ${engine:-docker podman buildah}; do
    if [ "$print" = yes ] && [ -n "$engine" ] || works "$one"; then
      engine=$one
      return
    fi
  done
  local text="no engine that builds images works here: ${engine:-docker, podman or buildah} is needed (docker: with its daemon)"
  [ "$skip" = no ] || { printf 'SKIPPED: %s\n' "$text"; exit 0; }
  fail 6 "$text"
}

run() {
  if [ "$print" = yes ]; then
    printf '%q ' "$@"
    printf '\n'
  else
    "$@"
  fi
}

# The engine with the flags that go before its verb.
engine_run() {
  if [ "$engine" = buildah ] && [ -n "$storage" ]; then
    run buildah --root "$storage/root" --runroot "$storage/run" --storage-driver "${STORAGE_DRIVER:-vfs}" "$@"
  else
    run "$engine" "$@"
  fi
}

# import_base FOLDER IMAGE
import_base() {
  local container
  container=$(engine_run from scratch)
  engine_run add --quiet "$container" "$1" / >/dev/null
  engine_run commit --quiet --rm "$container" "$2" >/dev/null
}

make_bases() {
  local folder=$base
  if [ "$base" = debootstrap ]; then
    folder=$(mktemp -d "${TMPDIR:-/var/tmp}/longhaul-base-XXXXXX")
    # shellcheck disable=SC2064 # The folder of now.
    trap "rm -rf '$folder'" EXIT
  fi
  node_image=localhost/longhaul-base:node
  base_image=localhost/longhaul-base:slim
  if [ "$print" = yes ]; then
    run "$here/local-base.sh" "$folder"
    return
  fi
  "$here/local-base.sh" "$folder"
  import_base "$folder/node" "$node_image"
  import_base "$folder/slim" "$base_image"
}

# build ROLE
build() {
  local image=longhaul-$1:$tag arguments=()
  [ -z "$node_image" ] || arguments+=(--build-arg "NODE_IMAGE=$node_image")
  [ -z "$base_image" ] || arguments+=(--build-arg "BASE_IMAGE=$base_image")
  if [ "$cuda" = yes ]; then
    image=$image-cuda
    arguments+=(--build-arg ONNXRUNTIME_INSTALL=cuda12)
    [ -n "$base_image" ] || arguments+=(--build-arg BASE_IMAGE=docker.io/nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04)
  fi
  arguments+=(--build-arg "VERSION=$version" --build-arg "REVISION=$revision" --build-arg "SOURCE=$source")
  case $engine in
    docker) [ -z "$epoch" ] || arguments+=(--build-arg "SOURCE_DATE_EPOCH=$epoch") ;;
    # Docker's format: OCI's has no health check. The host's network: packages are loaded in the build.
    *)
      arguments+=(--format docker --network host)
      [ -z "$epoch" ] || arguments+=(--timestamp "$epoch") ;;
  esac
  engine_run build "${arguments[@]}" --file "$here/Dockerfile" --target "$1" --tag "$image" "$root" || fail 1 "building $image failed"
  built+=("$image")
}

version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$root/package.json")
[ -n "$tag" ] || tag=$version
revision=unknown
source=unknown
epoch=${SOURCE_DATE_EPOCH:-}
if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
  revision=$(git -C "$root" rev-parse HEAD)
  [ -z "$(git -C "$root" status --porcelain)" ] || revision=$revision-modified
  # Only where it is a URL, and without a password that stands in it.
  source=$(git -C "$root" config --get remote.origin.url | sed -nE 's#^(https?|ssh|git)://([^/]*@)?#\1://#p') || true
  [ -n "$source" ] || source=unknown
  # What is built of one commit has the commit's time.
  [ -n "$epoch" ] || epoch=$(git -C "$root" log -1 --format=%ct)
fi

choose_engine
if [ "$engine" = buildah ] && [ "$(id -u)" = 0 ]; then export BUILDAH_ISOLATION="${BUILDAH_ISOLATION:-chroot}"; fi
[ -z "$base" ] || make_bases
built=()
if [ "$only" != loadgen ]; then build sut; fi
if [ "$only" != sut ] && [ "$cuda" = no ]; then build loadgen; fi
case $engine in
  buildah) engine_run images --filter 'reference=longhaul-*' ;;
  *) for image in "${built[@]}"; do engine_run image inspect --format '{{.RepoTags}} {{.Size}} bytes' "$image"; done ;;
esac
