#!/bin/sh
# Tries packaging/Caddyfile with a real Caddy and a real host: HTTPS with a certificate of Caddy's own
# authority, an agent over a WebSocket, a follower over server-sent events, and a post while the host
# restarts.
#
#   packaging/try-caddy.sh CHORUS CADDY FOLDER
#
# The ports are free ones above 20000; nothing outside FOLDER is written.
set -eu
chorus=$1
caddy=$2
folder=$3
caddyfile=$(cd "$(dirname "$0")" && pwd)/Caddyfile
cd "$folder"

fail() {
    echo "try-caddy.sh: $*" >&2
    cat ./*.log >&2
    exit 1
}

# Waits at most 20 s for the command to go well.
eventually() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || fail "never: $*"
        sleep 0.1
    done
}

port=$((20000 + $$ % 10000))
cat >Caddyfile <<END
{
	admin off
	http_port $((port + 1))
	https_port $((port + 2))
	skip_install_trust
	storage file_system $folder/caddy
}
END
cat "$caddyfile" >>Caddyfile
cat >chorus.toml <<END
data = "./data"
listen = "127.0.0.1:$port"
public_url = "https://localhost:$((port + 2))"
[limits]
trusted_proxies = ["127.0.0.1"]
END

running=
trap 'kill $running 2>/dev/null || true; wait' EXIT
"$chorus" serve >serve.log 2>&1 &
serving=$!
running=$serving
CHORUS_DOMAIN=localhost:$((port + 2)) CHORUS_UPSTREAM=127.0.0.1:$port \
    "$caddy" run --adapter caddyfile --config Caddyfile >caddy.log 2>&1 &
running="$running $!"
eventually test -s caddy/pki/authorities/local/root.crt
eventually test -s data/operator.token

# From here on as on another machine: an address, an authority and a token.
export CHORUS_URL=https://localhost:$((port + 2))
export CHORUS_CA="$folder/caddy/pki/authorities/local/root.crt"
CHORUS_TOKEN=$(cat data/operator.token)
export CHORUS_TOKEN
eventually "$chorus" health
"$chorus" member create scout --kind agent >member.log
"$chorus" channel create ops scout >channel.log
token=$("$chorus" token issue --agent scout --role worker)
CHORUS_TOKEN=$token "$chorus" join --agent scout --runtime cmd:'echo pong' --state-dir ./scout >join.log 2>&1 &
running="$running $!"
"$chorus" tail ops >tail.log 2>&1 &
running="$running $!"

"$chorus" post ops '@scout ping?' >post.log
eventually grep -q 'scout: pong' tail.log

kill $serving
wait $serving || true
(sleep 1 && exec env -u CHORUS_URL -u CHORUS_TOKEN "$chorus" serve) >again.log 2>&1 &
running="$running $!"
"$chorus" post ops 'posted while the host was away' >post.log || fail "a post did not wait for the host"
eventually grep -q 'posted while' tail.log
