#!/bin/sh
# Starts PgBouncer with the password from POSTGRES_PASSWORD, which is written nowhere but to /tmp.
set -eu
umask 077
case $POSTGRES_PASSWORD in
*'"'*)
    echo 'start.sh: POSTGRES_PASSWORD must not contain a double quote' >&2
    exit 1
    ;;
esac
printf '"chorus" "%s"\n' "$POSTGRES_PASSWORD" >/tmp/userlist.txt
unset POSTGRES_PASSWORD
exec pgbouncer /etc/pgbouncer/pgbouncer.ini
