/** The browser that tests and pictures of the console are made with: the system's Chromium, nothing downloaded by us. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'];

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

export function browserPath(): string | undefined {
  return [process.env.CHROMIUM, ...places].find((place) => place !== undefined && place !== '' && existsSync(place));
}

/** Installs it where that is ours to do: as root, by apt. Otherwise says how, and the console's tests are skipped. */
export function prepareBrowser(): void {
  if (browserPath() !== undefined) return;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log('installing chromium for the console’s tests, once (apt-get) ...');
    const apt = (...args: string[]) =>
      spawnSync('apt-get', ['-qq', ...args], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
        timeout: 300_000,
      }).status === 0;
    if (apt('update') && apt('install', '-y', 'chromium') && browserPath() !== undefined) return;
  }
  console.log(
    '! no Chromium: the console’s tests are skipped. To have them: apt-get install -y chromium (or CHROMIUM=path)',
  );
}
