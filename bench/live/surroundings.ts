import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { listen } from '../../test/deliver/http-server.ts';
import type { Write } from '../../test/history/history.ts';
import { type Endpoint, type Partner, stateText } from '../../test/simulation/partner.ts';
import type { Dice } from '../../test/simulation/random.ts';
import { nodeEnv } from './nodes.ts';

/** What to close at the end, in reverse order. */
export type Closing = (() => Promise<unknown>)[];

/** Runs the work with a temporary folder, and closes everything after it, also when the process is interrupted. */
export async function withClosing<Of>(
  name: string,
  work: (folder: string, closing: Closing) => Promise<Of>,
): Promise<Of> {
  const folder = await mkdtemp(path.join(os.tmpdir(), `innbound-${name}-`));
  const closing: Closing = [() => rm(folder, { recursive: true, force: true })];
  const closeAll = async () => {
    for (const close of closing.splice(0).reverse()) await close().catch(() => {});
  };
  const interrupted = () => void closeAll().then(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted);
  try {
    return await work(folder, closing);
  } finally {
    await closeAll();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupted);
  }
}

const sinkNames = ['crm', 'lake'] as const;

/** Destinations that check nothing, fail before and after taking effect, and record what arrived. */
export async function openSinks(writes: Write[], closing: Closing): Promise<Map<string, string>> {
  const urls = new Map<string, string>();
  for (const name of sinkNames) {
    const server = await listen(async ({ body }) => {
      const chance = Math.random();
      if (chance < 0.02) return { status: 503 };
      for (const message of [body].flat() as unknown as SentMessage[]) {
        writes.push({
          destination: name,
          record: `${message.integration}/${message.data.id}`,
          version: message.version,
          key: message.idempotency_key,
          value: stateText(message.data),
          body: JSON.stringify(message),
          isErasure: message.event === 'erased',
          startedAtMs: Date.now(),
        });
      }
      return chance < 0.03 ? 'cut' : chance < 0.033 ? 'hang' : { status: 200 };
    });
    closing.push(() => server.close());
    urls.set(name, server.url);
  }
  return urls;
}

interface SentMessage {
  readonly event: string;
  readonly integration: string;
  readonly version: number;
  readonly idempotency_key: string;
  readonly data: { readonly id: string; readonly status?: string; readonly total_amount?: number };
}

/** The partner's list, over HTTP; some connections are cut. */
export async function servePartner(partner: () => Partner | undefined, dice: Dice, closing: Closing): Promise<string> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://partner.example');
    const [, integration = ''] = url.pathname.split('/');
    setTimeout(
      () => {
        if (Math.random() < 0.03) return void request.socket.destroy();
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(partner()?.list(integration, url.searchParams) ?? '{"reservations":[],"total":0}');
      },
      dice.between(1, 60),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Runs a command of this tree, or of another version, against the database. */
async function command(
  args: readonly string[],
  databaseUrl: string,
  program = path.join(import.meta.dirname, '..', '..', 'src', 'main.ts'),
): Promise<string> {
  const all = ['--disable-warning=ExperimentalWarning', program, ...args];
  const { stdout } = await promisify(execFile)(process.execPath, all, { env: nodeEnv(databaseUrl) });
  return stdout;
}

export async function issueEndpoint(
  workspace: string,
  databaseUrl: string,
  brand: string,
  program?: string,
): Promise<Endpoint> {
  const stdout = await command(['endpoint', brand, '--workspace', workspace, '--json'], databaseUrl, program);
  const { endpoint_id: endpointId, secret } = JSON.parse(stdout) as { endpoint_id: string; secret: string };
  return { endpointId, secret };
}

/** A token with which a benchmark requests erasures from the API. */
export async function adminToken(workspace: string, databaseUrl: string): Promise<string> {
  const args = ['token', 'create', '--role', 'admin', '--name', 'bench', '--workspace', workspace, '--json'];
  return (JSON.parse(await command(args, databaseUrl)) as { token: string }).token;
}
