#!/bin/sh
# A bare machine, which exists for this process alone: this one's system, without its users' files,
# without a network, with Chorus and Claude Code installed and two users, ann and alice. As root:
#
#   unshare --mount --net bare-machine.sh FOLDER CHORUS KIT
#
# FOLDER becomes its place. Once it is there it says so, and it ends with its standard input.
set -eu
place=$1
chorus=$2
kit=$3
root=$place/root

mount -t tmpfs tmpfs "$place"
mkdir "$place/changes" "$place/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$place/changes,workdir=$place/work" "$root"
for hidden in root home usr/local tmp run; do
    mount -t tmpfs tmpfs "$root/$hidden"
done
chmod 1777 "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
install -m 755 "$chorus" "$root/usr/bin/chorus"
mkdir "$root/kit"
mount --bind "$kit" "$root/kit"
chroot "$root" ln -s /kit/node_modules/.bin/claude /usr/bin/claude
for user in ann alice; do
    chroot "$root" useradd --create-home "$user"
done
ip link set lo up
echo ready
exec cat
