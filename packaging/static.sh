#!/usr/bin/env bash
# Builds static binaries for Linux, which run on every distribution, and tries each one:
#
#   packaging/static.sh                               # x86-64 and arm64
#   packaging/static.sh aarch64-unknown-linux-musl    # one of them
#   packaging/static.sh --try-only                    # tries what was built before
#
# They are put into target/static, with SHA256SUMS. Zig is the C compiler and linker for both, by
# cargo-zigbuild; both come from PyPI into .cache. The standard library of a target comes by rustup.
# Needs cargo, rustup, python3, and file; for arm64 on another machine also qemu-aarch64-static
# (Debian's package qemu-user-static).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target_dir="${CARGO_TARGET_DIR:-target}"
tools=.cache/zigbuild-0.24.0
build=yes
targets=()
for argument in "$@"; do
    case "$argument" in
    --try-only) build=no ;;
    -*) echo "static.sh: unknown option $argument" >&2 && exit 2 ;;
    *) targets+=("$argument") ;;
    esac
done
[ ${#targets[@]} -gt 0 ] || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)

fail() {
    echo "static.sh: $*" >&2
    exit 1
}

install_zig() {
    [ -e "$tools/installed" ] && return
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check cargo-zigbuild==0.24.0 ziglang==0.17.0
    touch "$tools/installed"
}

build() {
    rustup target add "$1" || fail "rustup has no standard library of $1 for this toolchain"
    PATH="$PWD/$tools/bin:$PATH" cargo zigbuild --release --locked --package chorus --target "$1"
}

# The command that runs a binary of the target here.
runner() {
    case "$1" in
    "$(uname -m)"-*) ;;
    aarch64-*) command -v qemu-aarch64-static || fail "install qemu-user-static to try $1" ;;
    *) fail "no way to try $1 on $(uname -m)" ;;
    esac
}

# A binary is good if it needs no library, says its version, and serves.
try() {
    local binary=$1 run scratch serving up=no
    run=$(runner "$2")
    file --brief "$binary" | grep -Eq 'statically linked|static-pie linked' ||
        fail "$binary is not static: $(file --brief "$binary")"
    ! readelf --program-headers "$binary" | grep -q INTERP || fail "$binary asks for a loader"
    ! readelf --dynamic "$binary" | grep -q NEEDED || fail "$binary asks for a library"
    readelf --sections "$binary" | grep -q '\.symtab' && fail "$binary is not stripped"

    $run "$binary" --version
    scratch=$(mktemp --directory)
    $run "$binary" serve --data "$scratch/data" --listen 127.0.0.1:0 >"$scratch/out" 2>&1 &
    serving=$!
    for _ in $(seq 300); do
        if $run "$binary" health --data "$scratch/data" >/dev/null 2>&1; then
            up=yes
            break
        fi
        kill -0 "$serving" 2>/dev/null || break
        sleep 0.1
    done
    if [ "$up" = yes ]; then
        $run "$binary" channel create ops --data "$scratch/data" >/dev/null
        $run "$binary" post ops hello --data "$scratch/data" >/dev/null
    fi
    kill "$serving" 2>/dev/null || true
    wait "$serving" || true
    [ "$up" = yes ] || fail "$binary does not serve: $(cat "$scratch/out")"
    rm -r "$scratch"
}

mkdir -p "$target_dir/static"
[ "$build" = no ] || install_zig
for target in "${targets[@]}"; do
    [ "$build" = no ] || build "$target"
    binary="$target_dir/static/chorus-$target"
    install -m 755 "$target_dir/$target/release/chorus" "$binary"
    try "$binary" "$target"
    echo "$binary: $(($(stat --format=%s "$binary") / 1024 / 1024)) MiB, static, tried"
done
(cd "$target_dir/static" && sha256sum chorus-* >SHA256SUMS)
