/**
 * Takes docs/images/console-*.png from a running demo, with a CRM that refuses some reservations and an event that cannot become
 * a record, so that every page has something to show.
 *
 *   node_modules/.bin/node scripts/console-pictures.ts [NAME...]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { signedHeaders } from '../packages/sender/src/sign.ts';
import { browserFlags, requiredBrowser } from './prepare-browser.ts';

const root = path.dirname(import.meta.dirname);
const images = path.join(root, 'docs', 'images');
const bin = path.join(root, 'bin', 'innbound');

interface Picture {
  readonly name: string;
  readonly at: string;
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
  const crm = await startCrm();
  const demo = spawn(bin, ['demo', '-w', workspace, '-p', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const browser = await chromium.launch({ executablePath, args: [...browserFlags] });
  try {
    const link = await signInLink(demo);
    const context = await browser.newContext({ deviceScaleFactor: 1 });
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
    for (const { name, at, scheme, phone, act } of await setUp(scene, crm.url)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      await page.setViewportSize(phone ? { width: 390, height: 844 } : { width: 1440, height: 900 });
      await page.evaluate(`localStorage.setItem('mantine-color-scheme-value', '${scheme}')`);
      await page.goto(`${origin}${at}`);
      await page.locator('h1').first().waitFor();
      await page.getByText('Loading …').first().waitFor({ state: 'detached' });
      await act?.(page);
      // Enough time for the charts to have data.
      await delay(name === 'overview' ? 150_000 : name.startsWith('overview') ? 8_000 : 1_000);
      await page.screenshot({ path: path.join(images, `console-${name}.png`) });
      console.log(`docs/images/console-${name}.png`);
    }
  } finally {
    await browser.close();
    demo.kill('SIGTERM');
    await once(demo, 'exit');
    crm.stop();
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

async function setUp({ call }: Scene, crmUrl: string): Promise<Picture[]> {
  const brand = '/documents/integration/lisbon-grand';
  await call('PUT', '/documents/destination/crm', {
    text: `destination: crm\ntype: http\nurl: ${crmUrl}/stays\nreceives: [reservation]\n`,
  });
  const { source } = await call<{ source: string }>('GET', brand);
  await call('PUT', brand, { text: source.replace('deliver: [lake, warehouse]', 'deliver: [lake, warehouse, crm]') });
  await pushBackwards(await call('POST', '/integrations/lisbon-grand/endpoint/rotate', {}));
  const letters = async (kind: string) =>
    (await call<{ items: { id: string; record_id: string }[] }>('GET', `/dead-letters?kind=${kind}`)).items;
  while ((await letters('delivery')).length < 2 || (await letters('event')).length === 0) await delay(1_000);
  const [delivery] = await letters('delivery');
  const [event] = await letters('event');
  const held = `/reservations/lisbon-grand/reservations/${delivery?.record_id}`;
  const guest = await guestWithEmail(call);
  const studio = '/studio?connector=front-desk';
  return [
    { name: 'integrations', at: '/integrations', scheme: 'light' },
    { name: 'integration', at: '/integrations/lisbon-grand', scheme: 'dark' },
    { name: 'runs', at: '/runs', scheme: 'light' },
    { name: 'reservations', at: '/reservations', scheme: 'light' },
    { name: 'timeline', at: held, scheme: 'dark' },
    { name: 'timeline-phone', at: held, scheme: 'light', phone: true },
    { name: 'dead-letter', at: `/dead-letters/${event?.id}`, scheme: 'light' },
    {
      name: 'studio',
      at: studio,
      scheme: 'dark',
      act: async (page) => {
        await page.getByRole('button', { name: 'Fetch a sample' }).click();
        await page.getByText('Valid', { exact: true }).waitFor();
        await page.getByRole('heading', { name: 'Canonical records' }).scrollIntoViewIfNeeded();
        const linked = page.getByRole('region', { name: 'Canonical record, linked' });
        await linked.locator('[data-path="check_in"]').click();
        await page.mouse.wheel(0, 260);
      },
    },
    { name: 'destinations', at: '/destinations', scheme: 'dark' },
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
    // Last, when the charts have the most data.
    { name: 'overview', at: '/', scheme: 'dark' },
    { name: 'overview-day', at: '/', scheme: 'light' },
    { name: 'overview-phone', at: '/', scheme: 'dark', phone: true },
  ];
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

/** An event whose check-out is before its check-in. */
async function pushBackwards({ url, secret }: { url: string; secret: string }): Promise<void> {
  const body = JSON.stringify({
    event: 'reservation.created',
    event_id: 'picture-1',
    timestamp: new Date().toISOString(),
    brand_id: 'LIS01',
    data: {
      reservation_id: 'R900001',
      confirmation_number: 'LIS-9900001',
      check_in: '2031-05-12',
      check_out: '2031-05-10',
      status: 'confirmed',
      guests: [{ first_name: 'Inês', last_name: 'Duarte', email: 'ines.duarte@letters.example' }],
      stays: [{ room_type: 'Double', board_type: 'BB', adults: 2, children: 0 }],
    },
  });
  const headers = signedHeaders(secret, Math.floor(Date.now() / 1000), body);
  await fetch(url, { method: 'POST', headers, body });
}

/** Accepts most reservations, refuses every seventh for good, and answers 503 for every eleventh. */
async function startCrm(): Promise<{ url: string; stop: () => void }> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const id = Number(/"id":"R(\d+)"/.exec(text)?.[1] ?? 0);
    const status = id % 7 === 0 ? 422 : id % 11 === 0 ? 503 : 200;
    const answer = status === 422 ? { error: 'loyalty tier is required' } : {};
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

await main();
