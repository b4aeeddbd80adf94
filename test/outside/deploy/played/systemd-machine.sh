#!/bin/bash
# A machine of its own for systemd: pid 1 in new namespaces, on a copy of this machine's files that is thrown away at
# its end. Needs root, and util-linux. Says "machine PID" on stdout; ends when it is killed, and leaves nothing.
#
# usage: systemd-machine.sh STAGE FOLDER
#   STAGE   files that lie over this machine's own, as install.sh --root stages them; without opt, nothing is installed
#   FOLDER  an empty folder for mount points
set -euo pipefail

stage=$1
folder=$2

if [ "${3:-}" != inside ]; then
  unshare --pid --mount --uts --ipc --net --cgroup --fork --kill-child -- "$0" "$stage" "$folder" inside </dev/null &
  trap 'kill -KILL $! 2>/dev/null' TERM INT
  for _ in $(seq 100); do
    read -r pid _ <"/proc/$!/task/$!/children" || true
    [ -z "${pid:-}" ] || break
    sleep 0.1
  done
  printf 'machine %s\n' "$pid"
  wait $! || true
  exit 0
fi

mount --make-rprivate /
mount -t tmpfs tmpfs "$folder"
root=$folder/root
mkdir "$root" "$folder/upper" "$folder/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$root"
cp -a "$stage/etc" "$stage/var" "$root/"
# The package is large, and is not changed.
if [ -d "$stage/opt" ]; then
  mkdir -p "$root/opt"
  mount --bind "$stage/opt" "$root/opt"
  mount -o remount,bind,ro "$root/opt"
fi
mount -t proc proc "$root/proc"
# What is the kernel's stays as it is: no setting of it is another one for the machine outside.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
# Not 1777, tmpfs's own mode: in such a folder the kernel denies ">" to a device of another owner.
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root/etc/systemd/system" "$root/var/log/journal"
for unit in systemd-sysctl.service systemd-modules-load.service systemd-binfmt.service systemd-random-seed.service \
  systemd-udevd.service systemd-udev-trigger.service systemd-update-utmp.service dev-hugepages.mount dev-mqueue.mount \
  sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount \
  proc-sys-fs-binfmt_misc.automount; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
cd "$root"
pivot_root . mnt
umount -l /mnt
# Credentials are mounts that have to reach the services.
mount --make-rshared /
exec env -i container=longhaul-test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system \
  --unit=basic.target --log-target=journal --show-status=no
