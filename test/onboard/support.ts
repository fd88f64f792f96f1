/** A running service with a brand that has no partner yet, and a browser's view of its onboarding link. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { z } from 'zod';
import { signedHeaders } from '../../packages/sender/src/sign.ts';
import { createLink, linkRequest } from '../../src/operator/operations/onboarding.ts';
import { createToken } from '../../src/operator/operations/tokens.ts';
import { type Service, startService } from '../../src/service.ts';
import { testDatabase } from '../support/database.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers by name
type Any = any;

export interface Answer {
  readonly status: number;
  readonly body: Any;
  readonly headers: Headers;
}

export interface Setup {
  readonly service: Service;
  readonly dir: string;
  /** For commands on the same workspace. */
  readonly env: Record<string, string>;
  link(
    more?: Partial<z.input<typeof linkRequest>> & { readonly integration?: string },
  ): Promise<{ readonly url: string; readonly linkId: string; readonly token: string }>;
  /** As an operator with this role. */
  operator(method: string, at: string, body?: unknown, role?: 'viewer' | 'operator' | 'admin'): Promise<Answer>;
  stop(): Promise<void>;
}

const documents: Readonly<Record<string, string>> = {
  'innbound.yaml': 'network: { allow_private: true }\n',
  'connectors/harbour.yaml': 'connector: harbour\n',
  'connectors/shared.yaml': 'connector: shared\npull: { request: { path: /list }, window: none }\n',
  'integrations/shared.yaml':
    'integration: shared\nconnector: shared\nbrand_id: SHA01\ntimezone: Europe/Lisbon\ndeliver: []\n',
  'integrations/harbour.yaml':
    'integration: harbour # comments stay\nconnector: harbour\nbrand_id: HAR01\ntimezone: Europe/Lisbon\ncountry: PT\ndeliver: [lake]\n',
  'integrations/secretive.yaml':
    'integration: secretive\nconnector: shared\nbrand_id: SEC01\ntimezone: Europe/Lisbon\ndeliver: []\n',
  'destinations/lake.yaml': 'destination: lake\ntype: files\npath: out\n',
};

export async function openSetup(files: Readonly<Record<string, string>> = {}): Promise<Setup> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-onboard-'));
  for (const [file, text] of Object.entries({ ...documents, ...files })) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
  const database = await testDatabase();
  const env = { DATABASE_URL: database.url, INNBOUND_LOG_LEVEL: 'silent' };
  const service = await startService({ env, workspaceDir: dir, host: '127.0.0.1', port: 0, role: 'all' });
  const { runtime } = service;
  return {
    service,
    dir,
    env,
    link: async ({ integration = 'harbour', ...more } = {}) => {
      const request = linkRequest.parse({ partner: 'Harbour PMS', ...more });
      const { link, url } = await createLink(runtime, integration, request, 'test');
      return { url, linkId: link.link_id, token: url.split('#')[1] ?? '' };
    },
    operator: async (method, at, body, role = 'admin') => {
      const { token } = await createToken(runtime, { name: `the ${role}`, role, integrations: null, by: 'test' });
      return ask(`${service.url}/api/v1${at}`, method, body, { authorization: `Bearer ${token}` });
    },
    stop: async () => {
      await service.stop();
      await rm(dir, { recursive: true, force: true });
      await database.drop();
    },
  };
}

export async function ask(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(url, {
    method,
    headers: { ...json, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
}

export interface PartnerBrowser {
  readonly cookie: string;
  call(method: string, at: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** What the page does when the link is opened. */
export async function openInBrowser(setup: Setup, link: { linkId: string; token: string }, cookie = '') {
  const at = `${setup.service.url}/api/v1/onboarding/${link.linkId}`;
  const answer = await ask(`${at}/open`, 'POST', { token: link.token }, cookie === '' ? {} : { cookie });
  const kept = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie;
  const browser: PartnerBrowser = {
    cookie: kept,
    call: (method, path, body, headers = {}) =>
      ask(`${at}${path}`, method, method === 'GET' ? undefined : (body ?? {}), {
        cookie: kept,
        'x-innbound-console': '1',
        ...headers,
      }),
  };
  return { answer, browser };
}

export const event = (id: string, type: string, more: object = {}, data: object = {}) => ({
  event_id: id,
  event: type,
  timestamp: new Date().toISOString(),
  brand_id: 'HAR01',
  ...more,
  data: {
    reservation_id: 'B1',
    confirmation_number: 'C-B1',
    check_in: '2031-05-04',
    check_out: '2031-05-08',
    status: type === 'reservation.cancelled' ? 'cancelled' : 'confirmed',
    guests: [{ first_name: 'Inês', last_name: 'Duarte', email: 'ines.duarte@letters.example', phone: '+351912345678' }],
    stays: [{ room_type: 'Double', board_type: 'BB', adults: 2, children: 0 }],
    ...data,
  },
});

/** Sends an event as a partner's sender does; `change` makes a mistake. */
export async function send(
  url: string,
  secret: string,
  content: object,
  change: (request: { headers: Record<string, string>; body: string }) => {
    headers: Record<string, string>;
    body: string;
  } = (one) => one,
): Promise<Answer> {
  const body = JSON.stringify(content);
  const request = change({ headers: signedHeaders(secret, Math.floor(Date.now() / 1000), body), body });
  const response = await fetch(url, { method: 'POST', ...request });
  return { status: response.status, body: await response.json(), headers: response.headers };
}
