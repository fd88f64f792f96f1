/**
 * Takes docs/images/console-*.png from a running demo with its troubled hotel, so that every page shows what it is for.
 *
 *   node_modules/.bin/node scripts/console-pictures.ts [NAME...]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { browserFlags, requiredBrowser } from './prepare-browser.ts';

const root = path.dirname(import.meta.dirname);
const images = path.join(root, 'docs', 'images');
const bin = path.join(root, 'bin', 'innbound');

const troubled = 'wharf-house';

interface Picture {
  readonly name: string;
  /** The address, or what finds it when its turn comes. */
  readonly at: string | (() => Promise<string>);
  readonly scheme: 'light' | 'dark';
  readonly phone?: true;
  /** What to do on the page before taking the picture. */
  readonly act?: (page: Awaited<ReturnType<Browser['newPage']>>) => Promise<void>;
}

interface Scene {
  readonly url: string;
  readonly call: <T>(method: string, at: string, body?: unknown) => Promise<T>;
}

async function main(): Promise<void> {
  const executablePath = requiredBrowser();
  const workspace = await mkdtemp(path.join(os.tmpdir(), 'innbound-pictures-'));
  const demo = spawn(bin, ['demo', '--trouble', '60', '-w', workspace, '-p', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const browser = await chromium.launch({ executablePath, args: [...browserFlags] });
  try {
    const link = await signInLink(demo);
    const context = await browser.newContext({ deviceScaleFactor: 1 });
    context.setDefaultTimeout(180_000);
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const { origin } = new URL(link);
    const scene: Scene = {
      url: origin,
      call: async <T>(method: string, at: string, body?: unknown) => {
        const answer = await context.request.fetch(`${origin}/api/v1${at}`, {
          method,
          headers: { 'x-innbound-console': '1' },
          ...(body !== undefined && { data: body }),
        });
        return (await answer.json()) as T;
      },
    };
    const wanted = process.argv.slice(2);
    for (const { name, at, scheme, phone, act } of await setUp(scene)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      await page.setViewportSize(phone ? { width: 390, height: 844 } : { width: 1440, height: 900 });
      await page.evaluate(`localStorage.setItem('mantine-color-scheme-value', '${scheme}')`);
      await page.goto(`${origin}${typeof at === 'string' ? at : await at()}`);
      await page.locator('h1').first().waitFor();
      await page.getByText('Loading …').first().waitFor({ state: 'detached' });
      await act?.(page);
      // Enough time for the curves and the live parts.
      await delay(name.startsWith('overview') ? 8_000 : 1_000);
      await page.screenshot({ path: path.join(images, `console-${name}.png`) });
      console.log(`docs/images/console-${name}.png`);
    }
  } finally {
    await browser.close();
    demo.kill('SIGTERM');
    await once(demo, 'exit');
    await rm(workspace, { recursive: true, force: true });
  }
}

/** Waits until the demo prints its sign-in link. */
function signInLink(demo: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    for (const stream of [demo.stdout, demo.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        const [link] = /http:\/\/\S+\/sign-in#\S+/.exec(said) ?? [];
        if (link !== undefined) resolve(link);
      });
    }
    demo.once('exit', (code) => reject(new Error(`the demo ended with ${code}: ${said}`)));
  });
}

async function setUp({ call }: Scene): Promise<Picture[]> {
  const letters = async (kind: string) =>
    (
      await call<{ items: { id: string; record_id: string }[] }>(
        'GET',
        `/dead-letters?kind=${kind}&integration=${troubled}`,
      )
    ).items;
  const wrong = async () => (await call<{ causes: unknown[] }>('GET', '/overview')).causes.length;
  while ((await letters('delivery')).length < 2 || (await letters('record')).length === 0 || (await wrong()) === 0)
    await delay(1_000);
  const [delivery] = await letters('delivery');
  const [record] = await letters('record');
  const held = `/reservations/${troubled}/reservations/${delivery?.record_id}`;
  const guest = await guestWithEmail(call);
  const studio = '/studio?connector=front-desk';
  return [
    // While something is wrong.
    { name: 'overview', at: '/', scheme: 'dark' },
    { name: 'overview-day', at: '/', scheme: 'light' },
    { name: 'overview-phone', at: '/', scheme: 'dark', phone: true },
    { name: 'integrations', at: '/integrations', scheme: 'light' },
    { name: 'integration', at: `/integrations/${troubled}`, scheme: 'dark' },
    { name: 'runs', at: '/runs', scheme: 'light' },
    { name: 'reservations', at: '/reservations', scheme: 'light' },
    { name: 'timeline', at: held, scheme: 'dark' },
    { name: 'dead-letter', at: `/dead-letters/${record?.id}`, scheme: 'light' },
    {
      name: 'studio',
      at: studio,
      scheme: 'dark',
      act: async (page) => {
        await page.getByRole('button', { name: 'Fetch a sample' }).click();
        await page.getByText('Becomes a record').waitFor();
        await page.getByText('Fetched one page').waitFor({ state: 'detached' });
        await page.getByRole('heading', { name: 'Canonical records' }).scrollIntoViewIfNeeded();
        const linked = page.getByRole('region', { name: 'Canonical record, linked' });
        await linked.locator('[data-path="check_in"]').click();
        await page.mouse.wheel(0, 260);
      },
    },
    {
      name: 'studio-foreign',
      at: '/studio',
      scheme: 'light',
      act: async (page) => {
        await page.getByRole('textbox', { name: 'Sample as JSON' }).fill(foreignAnswer());
        await page.getByRole('button', { name: 'Suggest a mapping' }).click();
        await page.getByRole('combobox', { name: 'Time zone' }).fill('Europe/Berlin');
        await page.getByRole('textbox', { name: 'Country' }).fill('DE');
        await page.getByRole('heading', { name: 'Canonical records' }).scrollIntoViewIfNeeded();
        await page
          .getByRole('region', { name: 'Canonical record, linked' })
          .locator('[data-path="total_amount"]')
          .click();
        await page.mouse.wheel(0, 260);
      },
    },
    {
      name: 'reprocess',
      at: '/integrations/lisbon-grand?job=reprocess',
      scheme: 'light',
      act: (page) => page.getByRole('button', { name: /^Reprocess \d/ }).waitFor(),
    },
    { name: 'onboard', at: '/onboard', scheme: 'light' },
    { name: 'guest', at: `/reservations/lisbon-grand/guests/${guest.id}`, scheme: 'light' },
    {
      name: 'privacy',
      at: '/privacy',
      scheme: 'light',
      act: async (page) => {
        await page.getByLabel('E-mail address').fill(guest.email);
        await page.getByRole('button', { name: 'Preview the erasure' }).click();
        await page.getByRole('button', { name: 'Erase', exact: true }).waitFor();
      },
    },
    { name: 'audit', at: '/audit', scheme: 'light' },
    {
      name: 'holds',
      at: async () => {
        for (;;) {
          const [hold] = (await call<{ items: { id: string }[] }>('GET', '/holds?state=open')).items;
          if (hold) return `/holds/${hold.id}`;
          await delay(1_000);
        }
      },
      scheme: 'light',
    },
    { name: 'timeline-phone', at: () => waitingRecord(call), scheme: 'light', phone: true },
    { name: 'destinations', at: '/destinations', scheme: 'dark' },
  ];
}

/** The recorded answer of the tutorial. */
function foreignAnswer(): string {
  const page = readFileSync(path.join(root, 'docs', 'tutorials', 'foreign-data.md'), 'utf8');
  return /<<'ANSWER'\n([\s\S]*?)ANSWER\n/.exec(page)?.[1] ?? '';
}

/** A reservation that waits for the CRM, once that is down. */
async function waitingRecord(call: Scene['call']): Promise<string> {
  for (;;) {
    const { items: all } = await call<{ items: { circuit: object | null }[] }>('GET', '/destinations');
    const { items } = await call<{ items: { id: string; undelivered: number; open_dead_letters: number }[] }>(
      'GET',
      `/reservations?integration=${troubled}`,
    );
    const waiting = items.find(({ undelivered, open_dead_letters }) => undelivered > 0 && open_dead_letters === 0);
    if (waiting && all.some(({ circuit }) => circuit !== null))
      return `/reservations/${troubled}/reservations/${waiting.id}`;
    await delay(1_000);
  }
}

/** The simulated hotel sends a profile now and then. */
async function guestWithEmail(call: Scene['call']): Promise<{ id: string; email: string }> {
  for (;;) {
    const { items } = await call<{ items: { id: string; data: { email?: string } }[] }>(
      'GET',
      '/guests?integration=lisbon-grand',
    );
    for (const { id, data } of items) if (data.email !== undefined) return { id, email: data.email };
    await delay(1_000);
  }
}

await main();
