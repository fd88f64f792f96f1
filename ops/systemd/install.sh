#!/bin/sh
# Installs Innbound as a systemd service: /opt/innbound (program), /var/lib/innbound (workspace), /etc/innbound (settings).
#   ops/systemd/install.sh [--destdir DIR] [PACKAGE]
# PACKAGE is what npm installs: a packed innbound-X.Y.Z.tgz, or innbound@X.Y.Z. Default: the newest release.
# DIR: install under this folder instead of /, and start nothing (for packages and tests).
# Run as root, with Node 20 or later and npm. Run it again to upgrade; documents and settings are kept.
set -eu

destdir=
if [ "${1:-}" = --destdir ]; then
  destdir=${2:?--destdir needs a folder}
  shift 2
fi
package=${1:-innbound}
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)
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
# A path must hold in the folder of the program too.
if [ -f "$package" ]; then
  package=$(CDPATH= cd -- "$(dirname -- "$package")" && pwd -P)/$(basename -- "$package")
fi

# Beside the running program, which is replaced only by one that starts.
rm -rf "$program.new"
mkdir -p "$program.new" "$workspace" "$settings" "$units" "$commands"
(
  cd "$program.new"
  printf '{ "private": true }\n' > package.json
  npm install --no-audit --no-fund --loglevel=error "$package"
)
[ -x "$program.new/node_modules/.bin/innbound" ] || { say "$package has no command innbound" >&2; exit 1; }
say "installed $package"

if [ -z "$destdir" ]; then
  version=$("$program.new/node_modules/.bin/innbound" --version)
  say "it is version $version"
  if ! id innbound >/dev/null 2>&1; then
    useradd --system --user-group --home-dir /var/lib/innbound --shell /usr/sbin/nologin innbound
    say "created the user innbound"
  fi
  chown -R root:root "$program.new"
  # Before files are replaced, so that no process runs half of one version and half of another.
  if systemctl is-active --quiet innbound; then
    systemctl stop innbound
    say "stopped the running service"
  fi
fi
rm -rf "${program:?}"
mv "$program.new" "$program"

if [ ! -e "$settings/environment" ]; then
  (
    umask 077
    cat > "$settings/environment" <<'SETTINGS'
# Environment of the service, read by systemd. All variables: docs/reference/environment.md
# DATABASE_URL=postgres://innbound:password@db.internal/innbound
# INNBOUND_KEY=   # 32 bytes, hex or base64 (openssl rand -hex 32); the same on every node
SETTINGS
  )
  say "wrote $settings/environment"
fi
if [ ! -e "$workspace/innbound.yaml" ]; then
  printf '%s\n' '# Settings of the service (docs/reference/workspace.md). Documents: connectors/, integrations/, destinations/' '{}' \
    > "$workspace/innbound.yaml"
  say "wrote $workspace/innbound.yaml"
fi
chmod 0700 "$workspace"
chmod 0600 "$settings/environment"
cp "$here/innbound.service" "$units/innbound.service"
# The command for operators, as the service's user: sudo -u innbound innbound runs
cat > "$commands/innbound" <<'COMMAND'
#!/bin/sh
export INNBOUND_WORKSPACE="${INNBOUND_WORKSPACE:-/var/lib/innbound}"
packages=/opt/innbound/node_modules
exec "$packages/.bin/node" --disable-warning=ExperimentalWarning "$packages/innbound/dist/src/main.js" "$@"
COMMAND
chmod 0755 "$commands/innbound"

if [ -z "$destdir" ]; then
  chown -R innbound:innbound "$workspace"
  systemctl daemon-reload
  systemctl enable innbound
  systemctl start innbound
  say "started; look at it with: systemctl status innbound, journalctl -u innbound"
fi
