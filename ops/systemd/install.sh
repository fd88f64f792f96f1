#!/bin/sh
# Installs this checkout as a systemd service: /opt/innbound (program), /var/lib/innbound (workspace), /etc/innbound (settings).
# Run as root from a checkout. It can be run again to upgrade; documents and settings are kept.
#   ops/systemd/install.sh [--destdir DIR]     DIR: install under this folder instead of /, and start nothing (for packages and tests)
set -eu

destdir=
if [ "${1:-}" = --destdir ]; then
  destdir=${2:?--destdir needs a folder}
fi
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd -P)
program=$destdir/opt/innbound
workspace=$destdir/var/lib/innbound
settings=$destdir/etc/innbound
units=$destdir/etc/systemd/system
commands=$destdir/usr/local/bin

say() { printf '%s\n' "install: $*"; }

if [ -z "$destdir" ] && [ "$(id -u)" != 0 ]; then
  say "run this as root, or with --destdir DIR" >&2
  exit 1
fi
if [ -z "$destdir" ] && ! id innbound >/dev/null 2>&1; then
  useradd --system --user-group --home-dir /var/lib/innbound --shell /usr/sbin/nologin innbound
  say "created the user innbound"
fi

# Before files are replaced, so that no process runs half of one version and half of another.
if [ -z "$destdir" ] && systemctl is-active --quiet innbound; then
  systemctl stop innbound
  say "stopped the running service"
fi

mkdir -p "$program" "$workspace" "$settings" "$units" "$commands"
for entry in bin connectors console docs packages schemas scripts src LICENSE README.md package.json package-lock.json; do
  rm -rf "${program:?}/$entry"
  cp -R "$root/$entry" "$program/$entry"
done
say "copied the program to $program"

if [ -z "$destdir" ]; then
  (cd "$program" && npm ci --no-audit --no-fund && node_modules/.bin/node console/build.ts && npm prune --omit=dev --no-audit --no-fund)
  say "installed its packages"
fi

if [ ! -e "$settings/environment" ]; then
  umask 077
  cat > "$settings/environment" <<'SETTINGS'
# Environment of the service, read by systemd. All variables: docs/reference/environment.md
# DATABASE_URL=postgres://innbound:password@db.internal/innbound
# INNBOUND_KEY=   # 32 bytes, hex or base64 (openssl rand -hex 32); the same on every node
SETTINGS
  say "wrote $settings/environment"
fi
chmod 0700 "$workspace"
chmod 0600 "$settings/environment"
cp "$root/ops/systemd/innbound.service" "$units/innbound.service"
# The command for operators, as the service's user: sudo -u innbound innbound runs
cat > "$commands/innbound" <<'COMMAND'
#!/bin/sh
export INNBOUND_WORKSPACE="${INNBOUND_WORKSPACE:-/var/lib/innbound}"
exec /opt/innbound/node_modules/.bin/node --disable-warning=ExperimentalWarning /opt/innbound/src/main.ts "$@"
COMMAND
chmod 0755 "$commands/innbound"

if [ -z "$destdir" ]; then
  chown -R root:root "$program"
  chown -R innbound:innbound "$workspace"
  systemctl daemon-reload
  systemctl enable innbound
  systemctl start innbound
  say "started; look at it with: systemctl status innbound, journalctl -u innbound"
fi
