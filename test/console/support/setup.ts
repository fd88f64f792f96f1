/** A running service with one brand, a CRM that can refuse, and a browser: the starting point of the console's tests. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { buildConsole } from '../../../console/build.ts';
import { signedHeaders } from '../../../packages/sender/src/sign.ts';
import { browserFlags, requiredBrowser, skipWithoutBrowser } from '../../../scripts/prepare-browser.ts';
import { addressFor } from '../../../src/operator/operations/endpoints.ts';
import { createSignIn, createToken } from '../../../src/operator/operations/tokens.ts';
import type { TokenRole } from '../../../src/operator/store/tokens.ts';
import { startService } from '../../../src/service.ts';
import { testDatabase } from '../../support/database.ts';
import { followRequests } from './go.ts';

export const skip = skipWithoutBrowser();

export interface Setup {
  readonly url: string;
  readonly service: Awaited<ReturnType<typeof startService>>;
  readonly crm: { refuse: (id: string) => boolean; readonly taken: string[] };
  /** A new page in its own browser context, signed in by a one-time link. */
  signIn(options?: {
    role?: TokenRole;
    integrations?: readonly string[];
    phone?: boolean;
    scheme?: 'light' | 'dark';
  }): Promise<Page>;
  link(role?: TokenRole, integrations?: readonly string[]): Promise<string>;
  /** A new page in its own browser context, not signed in, free to visit other hosts. */
  stranger(): Promise<Page>;
  /** Sends a signed event to the brand's endpoint. */
  push(integration: string, event: Record<string, unknown>): Promise<void>;
  pushTo(address: { url: string; secret: string }, event: Record<string, unknown>): Promise<void>;
  api<T>(method: string, at: string, body?: unknown): Promise<T>;
  /** Errors in the browser: exceptions, blocked styles and scripts, requests to other hosts. */
  readonly complaints: string[];
  stop(): Promise<void>;
}

/** The menu under the name of the person. */
export const openUserMenu = (page: Page): Promise<void> => page.locator('button.who').click();

export const textOf = async (place: Locator): Promise<string> => ((await place.textContent()) ?? '').trim();

export const booking = (id: string, more: Record<string, unknown> = {}) => ({
  reservation_id: id,
  confirmation_number: `LIS-${id}`,
  check_in: '2031-05-04',
  check_out: '2031-05-08',
  status: 'confirmed',
  guests: [{ first_name: 'INÊS', last_name: 'DUARTE', email: 'Ines.Duarte@letters.example', phone: '912 345 678' }],
  stays: [{ room_type: 'Double', board_type: 'BB', adults: 2, children: 0 }],
  ...more,
});

/** One for all desks of the process. */
let running: Promise<Browser> | undefined;
after(async () => (await running)?.close());

/** `files` adds documents to the workspace; they may refer to the CRM's address as {crm} and to the partner's as {partner}. */
export async function openSetup(files: Readonly<Record<string, string>> = {}): Promise<Setup> {
  const executablePath = requiredBrowser();
  await buildConsole();
  const crm = await startCrm();
  const partner = await startPartner();
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-console-'));
  await writeWorkspace(dir, crm.url, partner.url, files);
  const env = { DATABASE_URL: (await testDatabase()).url, INNBOUND_LOG_LEVEL: 'silent' };
  const service = await startService({ env, workspaceDir: dir, host: '127.0.0.1', port: 0, role: 'all' }).catch(
    async (error) => {
      await Promise.all([crm.stop(), partner.stop()]);
      throw error;
    },
  );
  running ??= chromium.launch({ executablePath, args: [...browserFlags] });
  const browser = await running;
  const { token } = await createToken(service.runtime, { name: 'test', role: 'admin', integrations: null, by: 'test' });
  const complaints: string[] = [];
  const contexts: BrowserContext[] = [];
  const addresses = new Map<string, { url: string; secret: string }>();
  const link: Setup['link'] = async (role = 'admin', integrations) => {
    const grant = { name: `Ada, ${role}`, role, by: 'test', ...(integrations && { integrations }) };
    return `${service.url}${(await createSignIn(service.runtime, grant)).path}`;
  };
  const pushTo: Setup['pushTo'] = async ({ url, secret }, event) => {
    const body = JSON.stringify({ timestamp: new Date().toISOString(), brand_id: 'LIS01', ...event });
    const headers = signedHeaders(secret, Math.floor(Date.now() / 1000), body);
    const answer = await fetch(url, { method: 'POST', headers, body });
    if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
  };
  return {
    url: service.url,
    service,
    crm,
    complaints,
    link,
    pushTo,
    push: async (integration, event) => {
      let address = addresses.get(integration);
      if (!address) {
        const { url, secret = '' } = await addressFor(service.runtime, integration, { rotate: true });
        address = { url, secret };
        addresses.set(integration, address);
      }
      await pushTo(address, event);
    },
    api: async <T>(method: string, at: string, body?: unknown) => {
      const answer = await fetch(`${service.url}/api/v1${at}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as T;
    },
    stranger: async () => {
      const context = await browser.newContext();
      contexts.push(context);
      return context.newPage();
    },
    signIn: async ({ role = 'admin', integrations, phone = false, scheme = 'dark' } = {}) => {
      const viewport = phone ? { width: 390, height: 844 } : { width: 1440, height: 900 };
      // Animations keep a browser without a graphics processor busy.
      const look = { colorScheme: scheme, hasTouch: phone, reducedMotion: 'reduce' } as const;
      const context = await browser.newContext({ viewport, ...look });
      contexts.push(context);
      context.setDefaultTimeout(60_000);
      const page = await context.newPage();
      page.on(
        'console',
        (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`),
      );
      followRequests(page);
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => {
        const to = request.url();
        if (!to.startsWith(service.url) && !to.startsWith('data:')) complaints.push(`request to ${to}`);
      });
      await page.goto(await link(role, integrations));
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      return page;
    },
    stop: async () => {
      await Promise.all(contexts.map((context) => context.close()));
      await service.stop();
      await Promise.all([crm.stop(), partner.stop()]);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function startCrm() {
  const crm = { refuse: (_: string): boolean => false, taken: [] as string[] };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id } = (JSON.parse(text) as { data: { id: string } }).data;
    if (crm.refuse(id)) {
      response.writeHead(422, { 'content-type': 'application/json' }).end('{"error":"loyalty tier is required"}');
      return;
    }
    crm.taken.push(id);
    response.writeHead(200).end('{}');
  });
  return Object.assign(crm, await listening(server));
}

/** A partner whose list has one reservation. */
async function startPartner() {
  const server = createServer((_, response) => {
    const {
      reservation_id: id,
      stays,
      ...rest
    } = booking('R500', {
      guests: [{ first_name: 'Tomás', last_name: 'Reis', email: 'tomas.reis@letters.example' }],
    });
    const soon = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const reservations = [{ ...rest, id, rooms: stays, check_in: soon(2), check_out: soon(4) }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ reservations, total: 1 }));
  });
  return listening(server);
}

async function listening(server: ReturnType<typeof createServer>) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function writeWorkspace(
  dir: string,
  crmUrl: string,
  partnerUrl: string,
  more: Readonly<Record<string, string>>,
): Promise<void> {
  const files: Record<string, string> = {
    'innbound.yaml': 'network: { allow_private: true }\n',
    'connectors/hotel.yaml': `connector: hotel
pull:
  request: { method: GET, path: /api/reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }
  pagination: { type: none }
shape: { root_path: reservations }
values:
  board: { bed_and_breakfast: [BB] }
`,
    'integrations/grand.yaml': `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
country: PT
pull:
  base_url: ${partnerUrl}
  auth: { type: none }
  syncs:
    pre_stay: { every: 60m, range: [+1d, +7d] }
push: { enabled: true }
deliver: [lake, crm]
`,
    'destinations/lake.yaml': 'destination: lake\ntype: files\npath: out\n',
    'destinations/crm.yaml': `destination: crm\ntype: http\nurl: ${crmUrl}/stays\nreceives: [reservation]\n`,
    ...more,
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text.replaceAll('{crm}', crmUrl).replaceAll('{partner}', partnerUrl));
  }
}
