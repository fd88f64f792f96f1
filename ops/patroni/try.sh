#!/bin/sh
# Two PostgreSQL servers under Patroni and one etcd, on the loopback of one machine: to watch a failover, not for production.
# Debian: apt-get install patroni etcd-server etcd-client postgresql. Run as an account other than root, which PostgreSQL refuses.
#
#   ops/patroni/try.sh start DIR      prints the DATABASE_URL once there is a primary with a synchronous standby
#   ops/patroni/try.sh primary DIR    prints the name of the primary: one or two
#   ops/patroni/try.sh kill DIR NAME  kills a server and its Patroni, as if its machine had failed
#   ops/patroni/try.sh revive DIR NAME
#   ops/patroni/try.sh stop DIR
set -eu
does=$1
dir=$2
bin=${PG_BIN:-$(ls -d /usr/lib/postgresql/*/bin | tail -1)}

config() { # name, PostgreSQL's port, Patroni's port
  cat >"$dir/$1.yaml" <<YAML
scope: innbound
name: $1
restapi: { listen: "127.0.0.1:$3", connect_address: "127.0.0.1:$3" }
etcd3: { hosts: "127.0.0.1:23790" }
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    # A commit is confirmed when the standby has it, so a failover loses nothing that was acknowledged.
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: { max_connections: 150, wal_log_hints: "on" }
  initdb: [ { encoding: UTF8 }, data-checksums ]
  pg_hba: [ "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust" ]
postgresql:
  listen: "127.0.0.1:$2"
  connect_address: "127.0.0.1:$2"
  data_dir: "$dir/$1"
  bin_dir: "$bin"
  parameters: { unix_socket_directories: "$dir" }
  authentication: { superuser: { username: postgres }, replication: { username: replicator }, rewind: { username: postgres } }
YAML
}

run() { # name
  patroni "$dir/$1.yaml" >>"$dir/$1.log" 2>&1 &
  echo $! >"$dir/$1.pid"
}

primary() {
  for name in one two; do
    [ "$name" = one ] && port=28001 || port=28002
    if curl -sf -o /dev/null "http://127.0.0.1:$port/primary"; then echo "$name"; fi
  done
}

case $does in
start)
  mkdir -p "$dir"
  config one 25431 28001
  config two 25432 28002
  etcd --data-dir "$dir/etcd" --listen-client-urls http://127.0.0.1:23790 --advertise-client-urls http://127.0.0.1:23790 \
    --listen-peer-urls http://127.0.0.1:23800 --initial-advertise-peer-urls http://127.0.0.1:23800 \
    --initial-cluster default=http://127.0.0.1:23800 >"$dir/etcd.log" 2>&1 &
  echo $! >"$dir/etcd.pid"
  run one
  until [ -n "$(primary)" ]; do sleep 1; done
  run two
  until curl -sf -o /dev/null http://127.0.0.1:28002/sync || curl -sf -o /dev/null http://127.0.0.1:28001/sync; do sleep 1; done
  echo postgres://postgres@127.0.0.1:25431,127.0.0.1:25432/postgres
  ;;
primary) primary ;;
kill)
  kill -KILL "$(cat "$dir/$3.pid")"
  kill -KILL "-$(head -1 "$dir/$3/postmaster.pid")" 2>/dev/null || kill -KILL "$(head -1 "$dir/$3/postmaster.pid")"
  ;;
revive) run "$3" ;;
stop)
  for name in one two etcd; do kill "$(cat "$dir/$name.pid")" 2>/dev/null || true; done
  ;;
*)
  sed -n '2,11p' "$0"
  exit 2
  ;;
esac
