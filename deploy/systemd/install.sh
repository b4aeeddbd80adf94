#!/bin/sh
# Installs longhaul's systemd units and its package, again as often as you like, or takes them away.
set -euf

usage() {
  cat <<'USAGE'
Usage: install.sh PACKAGE.tgz [--role sut|loadgen|both] [--prefix FOLDER] [--root FOLDER] [--node PROGRAM]
       install.sh --uninstall [--purge] [--prefix FOLDER] [--root FOLDER]

Installs PACKAGE.tgz (of "npm pack") below the prefix with npm, which fetches what the package needs, and the units below
/etc/systemd/system; makes the user "longhaul" and its folders. Settings and keys are yours to put there; what is there
already is kept. Needs root, systemd 247 or later, Node.js 20.19 or later, npm.

  --role ROLE      which units: sut, loadgen or both (default: both); ONNX Runtime comes with sut and both
  --prefix FOLDER  where the package goes (default: /opt/longhaul)
  --root FOLDER    stage the installation below FOLDER, as for a package or an image: no user is made, nothing is started
  --node PROGRAM   the Node.js that the units use (default: the one in PATH)
  --uninstall      stop and remove units, package, and the files of user and folders
  --purge          with --uninstall: settings, keys, results and cache, too

ONNX Runtime's libraries for NVIDIA GPUs are left out; ONNXRUNTIME_NODE_INSTALL=cuda12 before the command fetches them.

Example:
  install.sh longhaul-0.1.0.tgz --role sut
  cp /opt/longhaul/share/doc/longhaul/sut.env /etc/longhaul/sut-sut-a.env
  cp -R tls/sut-a /etc/longhaul/tls/ && systemctl enable --now longhaul-sut@sut-a

Exit codes: 0 done, 2 wrong arguments, 6 this machine (Node.js, npm, rights), 1 npm or systemd failed.
USAGE
}

# fail EXIT-CODE TEXT
fail() {
  printf 'install.sh: %s\n' "$2" >&2
  exit "$1"
}

say() {
  printf '%s\n' "$1"
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
package=''
role=both
prefix=/opt/longhaul
root=''
node=''
uninstall=no
purge=no

parse_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --uninstall) uninstall=yes ;;
      --purge) purge=yes ;;
      --role | --prefix | --root | --node)
        [ $# -ge 2 ] || fail 2 "$1 needs a value"
        case $1 in
          --role) role=$2 ;;
          --prefix) prefix=$2 ;;
          --root) root=${2%/} ;;
          --node) node=$2 ;;
        esac
        shift ;;
      -*) fail 2 "\"$1\" is no flag of this script; see --help" ;;
      *)
        [ -z "$package" ] || fail 2 "one package, please: \"$package\" and \"$1\" are two"
        package=$1 ;;
    esac
    shift
  done
}

check_arguments() {
  # The path stands in units, in which spaces and % have meanings.
  case $prefix in
    / | *[!A-Za-z0-9/._-]* | */) fail 2 "--prefix $prefix: an absolute path of letters, digits, '.', '_' and '-' is needed" ;;
    /*) ;;
    *) fail 2 "--prefix $prefix: an absolute path is needed" ;;
  esac
  case $prefix in
    /home/* | /root/* | /tmp/* | /run/user/*) fail 2 "--prefix $prefix: the units do not see /home, /root, /run/user and the real /tmp" ;;
  esac
  case $root in
    '' | /*) ;;
    *) fail 2 "--root $root: an absolute path is needed" ;;
  esac
  if [ "$uninstall" = yes ]; then
    [ -z "$package" ] || fail 2 "--uninstall takes no package (\"$package\")"
    return 0
  fi
  [ "$purge" = no ] || fail 2 '--purge goes with --uninstall'
  [ -n "$package" ] || fail 2 'the package is missing: install.sh longhaul-VERSION.tgz'
  if ! [ -f "$package" ]; then fail 2 "$package: no such file; \"npm pack\" makes the package"; fi
  gzip -t "$package" 2>/dev/null || fail 2 "$package: not a package of npm (.tgz)"
  case $role in
    sut | loadgen | both) ;;
    *) fail 2 "--role $role: sut, loadgen or both" ;;
  esac
}

check_machine() {
  if [ -z "$root" ] && [ "$(id -u)" -ne 0 ]; then
    fail 6 'root is needed (sudo), or --root FOLDER to stage the installation'
  fi
}

# Finds Node.js and npm, and says what is wrong with them.
check_node() {
  [ -n "$node" ] || node=$(command -v node) || fail 6 'Node.js is not in PATH: install 20.19 or later, or give --node PROGRAM'
  case $node in
    /*) ;;
    *) node=$(command -v "$node") || fail 6 "--node: no such program" ;;
  esac
  version=$("$node" --version 2>/dev/null) || fail 6 "$node cannot be run"
  major=${version#v}
  minor=${major#*.}
  major=${major%%.*}
  minor=${minor%%.*}
  case $major$minor in
    '' | *[!0-9]*) fail 6 "$node says \"$version\", which is no version of Node.js" ;;
  esac
  if [ "$major" -lt 20 ] || { [ "$major" -eq 20 ] && [ "$minor" -lt 19 ]; }; then
    fail 6 "$node is $version; 20.19 or later is needed"
  fi
  real=$(readlink -f "$node")
  case $real in
    /home/* | /root/* | /tmp/*) fail 6 "$real: the units do not see /home, /root and the real /tmp; install Node.js for all users, or give --node PROGRAM" ;;
  esac
  command -v npm >/dev/null || fail 6 'npm is not in PATH'
}

# Sets `runtime`: ONNX Runtime in the version that the package was tested with.
read_package() {
  said=$(tar -xzOf "$package" package/package.json 2>/dev/null |
    "$node" --print 'const { name, peerDependencies } = JSON.parse(require("fs").readFileSync(0, "utf8"));
      `${name} onnxruntime-node@${peerDependencies["onnxruntime-node"]}`' 2>/dev/null) || said=''
  case $said in
    'longhaul '*) runtime=${said#* } ;;
    *) fail 2 "$package: not a package of longhaul" ;;
  esac
}

# Somebody else's program of this name stays.
check_program() {
  program=$root$prefix/bin/longhaul
  if [ "$(readlink "$program")" = "$program_link" ]; then return 0; fi
  if [ -e "$program" ] || [ -L "$program" ]; then
    fail 2 "$program is there, and install.sh did not put it there: remove it (npm uninstall --global), or give another --prefix"
  fi
}

# The program in <prefix>/bin, as install.sh links it.
program_link=../lib/longhaul/node_modules/.bin/longhaul

# Folders of the prefix that others may use as well, the inner ones first.
shared_folders='share/doc share lib bin .'

# Notes those that are not there yet, for --uninstall: it takes no empty folder that was there before.
note_folders() {
  [ -f "$root$prefix/lib/longhaul/folders" ] && return 0
  made=''
  for folder in $shared_folders; do
    [ -d "$root$prefix/$folder" ] || made="$made$folder "
  done
  mkdir -p "$root$prefix/lib/longhaul"
  printf '%s\n' "$made" >"$root$prefix/lib/longhaul/folders"
}

install_package() {
  note_folders
  own=$root$prefix/lib/longhaul
  mkdir -p "$root$prefix/bin" "$root$prefix/share/doc/longhaul"
  # npm would take a relative path with a folder in it for a repository of GitHub.
  case $package in /*) ;; *) package=$PWD/$package ;; esac
  set -- "$package"
  if [ "$role" != loadgen ]; then set -- "$package" "$runtime"; fi
  say "package   $own: $(basename "$package")${2:+, $2} (npm fetches what they need)"
  # ONNX Runtime's install script fetches libraries of GPUs (hundreds of MB); its CPU libraries lie in its package.
  ONNXRUNTIME_NODE_INSTALL=${ONNXRUNTIME_NODE_INSTALL:-skip}
  export ONNXRUNTIME_NODE_INSTALL
  # What is installed belongs to root, and is for all to read.
  (umask 022 && npm install --no-audit --no-fund --loglevel=error --prefix "$own" "$@") ||
    fail 1 "npm could not install $package"
  # What the units start: at a place of our own, since <prefix>/bin may be where Node.js itself is.
  ln -sf "$real" "$own/node"
  ln -sf "$program_link" "$root$prefix/bin/longhaul"
  said=$("$own/node" "$root$prefix/bin/longhaul" --version 2>&1) || fail 1 "the installed longhaul does not run: $said"
  say "longhaul  $said on Node.js $version"
}

# put FILE TARGET MODE: with the prefix of this installation, and in one step.
put() {
  mkdir -p "$(dirname -- "$2")"
  sed "s#/opt/longhaul#$prefix#g" "$1" >"$2.new"
  chmod "$3" "$2.new"
  mv "$2.new" "$2"
}

install_units() {
  for one in sut loadgen; do
    case $role in "$one" | both) ;; *) continue ;; esac
    put "$here/longhaul-$one@.service" "$root/etc/systemd/system/longhaul-$one@.service" 0644
    put "$here/$one.env" "$root$prefix/share/doc/longhaul/$one.env" 0644
    say "unit      $root/etc/systemd/system/longhaul-$one@.service"
  done
  put "$here/sysusers.conf" "$root/etc/sysusers.d/longhaul.conf" 0644
  put "$here/tmpfiles.conf" "$root/etc/tmpfiles.d/longhaul.conf" 0644
  put "$here/README.md" "$root$prefix/share/doc/longhaul/systemd.md" 0644
  for one in cpus gpu sut-without-tls loadgen-without-tls; do
    put "$here/drop-ins/$one.conf" "$root$prefix/share/doc/longhaul/drop-ins/$one.conf" 0644
  done
}

# What only a running system has.
activate() {
  if [ -n "$root" ]; then
    mkdir -p "$root/etc/longhaul/tls" "$root/var/lib/longhaul"
    chmod 0700 "$root/etc/longhaul/tls"
    say "staged    below $root: on the machine itself run systemd-sysusers, systemd-tmpfiles --create, systemctl daemon-reload"
    return 0
  fi
  systemd-sysusers "/etc/sysusers.d/longhaul.conf" || fail 1 'systemd-sysusers could not make the user "longhaul"'
  systemd-tmpfiles --create "/etc/tmpfiles.d/longhaul.conf" || fail 1 'systemd-tmpfiles could not make the folders'
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || fail 1 'systemctl daemon-reload failed'
  else
    say 'note      systemd does not run here: the units are in place for when it does'
  fi
}

next_steps() {
  doc=$prefix/share/doc/longhaul
  case $role in sut | both) say "next      cp $doc/sut.env /etc/longhaul/sut-NAME.env, certificates to /etc/longhaul/tls/NAME, systemctl enable --now longhaul-sut@NAME" ;; esac
  case $role in loadgen | both) say "next      cp $doc/loadgen.env /etc/longhaul/loadgen-NAME.env, certificates to /etc/longhaul/tls/loadgen, systemctl start longhaul-loadgen@NAME" ;; esac
}

# Only what install.sh put there: a prefix such as /usr/local holds more.
remove_package() {
  if ! [ -f "$root$prefix/lib/longhaul/folders" ]; then
    say "note      below $root$prefix install.sh has no package; --prefix says where, if it is elsewhere"
    return 0
  fi
  made=$(cat "$root$prefix/lib/longhaul/folders")
  rm -rf "$root$prefix/lib/longhaul" "$root$prefix/share/doc/longhaul" "$root$prefix/bin/longhaul"
  for folder in $made; do
    rmdir "$root$prefix/${folder#.}" 2>/dev/null || true
  done
}

remove_everything() {
  if [ -z "$root" ] && [ -d /run/systemd/system ]; then
    # A node drains first.
    systemctl stop 'longhaul-sut@*' 'longhaul-loadgen@*' || fail 1 'the units could not be stopped'
    set +f
    for link in /etc/systemd/system/*.wants/longhaul-sut@*.service; do
      if [ -L "$link" ]; then rm -f "$link"; fi
    done
    set -f
  fi
  rm -f "$root/etc/systemd/system/longhaul-sut@.service" "$root/etc/systemd/system/longhaul-loadgen@.service" \
    "$root/etc/sysusers.d/longhaul.conf" "$root/etc/tmpfiles.d/longhaul.conf"
  remove_package
  if [ -z "$root" ] && [ -d /run/systemd/system ]; then systemctl daemon-reload || fail 1 'systemctl daemon-reload failed'; fi
  if [ "$purge" = yes ]; then
    rm -rf "$root/etc/longhaul" "$root/var/lib/longhaul" "$root/var/cache/longhaul" "$root/var/log/longhaul"
    say 'removed   with settings, keys, results and cache; the user "longhaul" stays (userdel longhaul)'
  else
    say 'removed   kept: /etc/longhaul, /var/lib/longhaul, /var/cache/longhaul, the user "longhaul" (--purge takes the folders, too)'
  fi
}

parse_arguments "$@"
check_arguments
check_machine
if [ "$uninstall" = yes ]; then
  remove_everything
else
  check_node
  read_package
  check_program
  install_package
  install_units
  activate
  next_steps
fi
