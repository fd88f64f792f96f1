/** The browser for tests and pictures of the console: the system's Chromium. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Chromium without its windows: the console's tests take 40 % less processor time with it (two arm64 cores). */
const lean = { package: 'chromium-headless-shell', path: '/usr/bin/chromium-headless-shell' };
const places = [
  lean.path,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
];

export const browserFlags = [
  '--no-sandbox',
  '--headless',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
] as const;

type Env = Readonly<Record<string, string | undefined>>;

function browserPath(env: Env = process.env, exists = existsSync): string | undefined {
  return [env.CHROMIUM, ...places].find((place) => place !== undefined && place !== '' && exists(place));
}

/** The one way to run the tests without a browser, on a machine where none can be installed. Not available in CI. */
const skipSetting = 'INNBOUND_SKIP_BROWSER_TESTS';
const maySkip = (env: Env): boolean => env[skipSetting] === '1' && env.CI === undefined;

const missing = `no Chromium found: install it (apt-get install -y chromium-headless-shell), set CHROMIUM to its path, or skip the tests that need it with ${skipSetting}=1 (not in CI)`;

/** For `test`: the reason to skip tests that need a browser, or false. Without the setting they run, and fail if there is none. */
export const skipWithoutBrowser = (env: Env = process.env, exists = existsSync): string | false =>
  browserPath(env, exists) === undefined && maySkip(env) ? missing : false;

/** The browser's path, or an error that says what to do. */
export function requiredBrowser(env: Env = process.env, exists = existsSync): string {
  const found = browserPath(env, exists);
  if (found === undefined) throw new Error(missing);
  return found;
}

/** What apt-get should do, in turn, until a browser is there. If there is a heavier one, the package lists are not updated. */
export function installSteps(env: Env = process.env, exists = existsSync): readonly (readonly string[])[] {
  const found = browserPath(env, exists);
  if (found === undefined) return [['update'], ['install', '-y', lean.package], ['install', '-y', 'chromium']];
  const isChosen = found === env.CHROMIUM || found === lean.path;
  return isChosen ? [] : [['install', '-y', lean.package]];
}

/** Installs a browser if we are root with apt. Otherwise says what will happen to the tests that need one. */
export function prepareBrowser(): void {
  const steps = installSteps();
  if (steps.length > 0 && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log('installing Chromium for the console’s tests, once (apt-get) ...');
    for (const step of steps) if (installSteps().length > 0) apt(...step);
  }
  if (browserPath() !== undefined) return;
  console.log(`! tests that need a browser will ${maySkip(process.env) ? 'be skipped' : 'fail'}: ${missing}`);
}

function apt(...args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['-qq', ...args], { stdio: 'ignore', env, timeout: 300_000 });
}
