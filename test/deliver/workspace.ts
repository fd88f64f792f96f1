import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openRuntime } from '../../src/operator/operations/open-runtime.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import type { Json } from '../../src/terms.ts';
import { testDatabase } from '../support/database.ts';
import { temporaryFolder } from './support.ts';

const connector = (statuses: string, more = '') => `
connector: pms
pull: { request: { method: GET, path: /r, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }, pagination: { type: none } }
values: { status: { confirmed: [${statuses}] }${more} }
`;
const integration = `
integration: lisbon
connector: pms
brand_id: LIS01
timezone: Europe/Lisbon
country: PT
push: { enabled: true }
deliver: [crm]
`;

/** A process's runtime with its own workspace and database, and one http destination. */
export async function openWorkspace(url: string): Promise<{
  runtime: Runtime;
  /** Applies the connector with these spellings of `confirmed`. */
  remap(statuses: string, more?: string): Promise<Runtime>;
  close(): Promise<void>;
}> {
  const { folder, remove } = await temporaryFolder();
  const db = await testDatabase();
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  };
  await write('connectors/pms.yaml', connector('CONF'));
  await write('integrations/lisbon.yaml', integration);
  await write('destinations/crm.yaml', `destination: crm\ntype: http\nurl: ${url}\nretry: [1s]\n`);
  await write('innbound.yaml', 'network: { allow_private: true }\n');
  const env = { DATABASE_URL: db.url };
  const open = (): Promise<Runtime> =>
    openRuntime({ env, workspaceDir: folder, purpose: 'command', describe: 'test', apply: 'always' });
  let runtime = await open();
  return {
    runtime,
    async remap(statuses, more) {
      await runtime.close();
      await write('connectors/pms.yaml', connector(statuses, more));
      runtime = await open();
      return runtime;
    },
    async close() {
      await runtime.close();
      await remove();
    },
  };
}

export function rawReservation(id: string, change: { [key: string]: Json } = {}): { [key: string]: Json } {
  return {
    id,
    check_in: '2026-12-01',
    check_out: '2026-12-04',
    status: 'CONF',
    total_amount: 100,
    currency: 'EUR',
    guests: [{ first_name: 'Ana', last_name: 'Exemplo', email: 'ana@guests.example' }],
    rooms: [],
    charges: [],
    ...change,
  };
}
