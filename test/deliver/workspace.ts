import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Ground, openGround } from '../../src/ground.ts';
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

/** A process's ground over a workspace and a database of its own, with one http destination. */
export async function openWorkspace(url: string): Promise<{
  ground: Ground;
  /** Applies the connector with these spellings of `confirmed`. */
  remap(statuses: string, more?: string): Promise<Ground>;
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
  const open = async (): Promise<Ground> => {
    const before = process.env.DATABASE_URL;
    process.env.DATABASE_URL = db.url;
    try {
      return await openGround({ workspaceDir: folder, purpose: 'command', describe: 'test', apply: 'always' });
    } finally {
      if (before === undefined) delete process.env.DATABASE_URL;
      else process.env.DATABASE_URL = before;
    }
  };
  let ground = await open();
  return {
    ground,
    async remap(statuses, more) {
      await ground.close();
      await write('connectors/pms.yaml', connector(statuses, more));
      ground = await open();
      return ground;
    },
    async close() {
      await ground.close();
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
