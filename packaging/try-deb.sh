#!/bin/sh
# Installs a package as a person would, uses it, removes and purges it, in a copy of this machine's
# file system that exists for this process alone. As root:
#
#   unshare --mount packaging/try-deb.sh chorus.deb FOLDER
#
# FOLDER becomes the place of the copy, which is an overlay in memory.
set -eu
# Lists of words on purpose: a process behind a function could not be ended by its number.
# shellcheck disable=SC2086
package=$1
place=$2
root=$place/root

fail() {
    echo "try-deb.sh: $*" >&2
    exit 1
}

serving=
trap '[ -z "$serving" ] || kill "$serving" 2>/dev/null || true' EXIT

mount -t tmpfs tmpfs "$place"
mkdir "$place/changes" "$place/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$place/changes,workdir=$place/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
# Installing must start nothing: there is no systemd in here.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
install -m 644 "$package" "$root/chorus.deb"
inside="chroot $root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive"
as_chorus="$inside setpriv --reuid=chorus --regid=chorus --clear-groups"

$inside dpkg --force-unsafe-io --no-triggers --install /chorus.deb >/dev/null
$inside getent passwd chorus | grep -q ':/var/lib/chorus:/usr/sbin/nologin$' || fail "there is no user chorus"
[ -L "$root/etc/systemd/system/multi-user.target.wants/chorus.service" ] || fail "the service is not enabled"
for unit in chorus.service chorus@a.service; do
    complaints=$($inside systemd-analyze verify $unit 2>&1 | grep 'chorus\(@a*\)*\.service' || true)
    [ -z "$complaints" ] || fail "systemd-analyze: $complaints"
done
[ ! -e "$root/etc/systemd/system/multi-user.target.wants/chorus@.service" ] || fail "the template is enabled"

# As the service does: systemd makes the folder.
install -d -m 700 -o "$($inside id -u chorus)" -g "$($inside id -g chorus)" "$root/var/lib/chorus"
$as_chorus chorus config check --config /etc/chorus/chorus.toml >/dev/null
$as_chorus chorus serve --config /etc/chorus/chorus.toml --listen 127.0.0.1:0 >"$place/out" 2>&1 &
serving=$!
tries=0
until $as_chorus chorus health --config /etc/chorus/chorus.toml >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || fail "the host does not serve: $(cat "$place/out")"
    sleep 0.1
done
$as_chorus chorus channel create ops --config /etc/chorus/chorus.toml >/dev/null
kill "$serving"
wait "$serving" || true
serving=

echo '#listen = "127.0.0.1:7601"' >>"$root/etc/chorus/chorus.toml"
$inside dpkg --force-unsafe-io --no-triggers --install /chorus.deb >/dev/null
grep -q 7601 "$root/etc/chorus/chorus.toml" || fail "settings did not survive the package being installed again"
$inside dpkg --remove chorus >/dev/null
[ ! -e "$root/usr/bin/chorus" ] || fail "the binary survives the package"
[ -e "$root/etc/chorus/chorus.toml" ] || fail "settings do not survive removal"
$inside dpkg --purge chorus >/dev/null 2>&1
[ ! -e "$root/etc/chorus/chorus.toml" ] || fail "settings survive purging"
[ -e "$root/var/lib/chorus/chorus.db" ] || fail "conversations do not survive purging"
