import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { IntegrationName, JsonObject } from '../../../src/terms.ts';

/** One brand that is polled and pushes, a CRM that gets everything, and a newsletter that gets guests who agreed. */
export const integration = 'lisbon' as IntegrationName;
export const reservationIds = ['R1', 'R2', 'R3'];

/** Each reservation has its own guest. */
export const emailOf = (id: string): string => `${id.toLowerCase()}@guests.example`;

const dayMs = 24 * 3_600_000;

export function reservation(id: string, amount: number, consent: boolean): JsonObject {
  const day = (ahead: number) => new Date(Date.now() + ahead * dayMs).toISOString().slice(0, 10);
  return {
    id,
    confirmation_number: `C-${id}`,
    check_in: day(3),
    check_out: day(5),
    status: 'confirmed',
    total_amount: amount,
    currency: 'EUR',
    guests: [{ first_name: 'Ana', last_name: 'Exemplo', email: emailOf(id), marketing_consent: consent }],
    rooms: [],
    charges: [],
  };
}

/** `rule` changes the documents: a node that starts with another one puts it in force. */
export async function writeWorkspace(dir: string, rule: number): Promise<void> {
  const files = {
    'innbound.yaml': 'network: { allow_private: true }\n',
    'connectors/pms.yaml': `connector: pms
pull:
  request: { path: /reservations, query: { from: "{window.from}", to: "{window.to}" } }
  pagination: { type: none }
shape: { root_path: reservations }
`,
    'destinations/crm.yaml': destination('crm', ''),
    'destinations/news.yaml': destination('news', 'consent: marketing\n'),
    'integrations/lisbon.yaml': `integration: lisbon
connector: pms
brand_id: LIS01
timezone: UTC
country: PT
pull:
  base_url: http://127.0.0.1:1
  auth: { type: none }
  syncs: { pre_stay: { every: 30m, range: [+1d, +7d] } }
push: { enabled: true }
transforms:
  - set: { channel: '"rule ${rule}"' }
deliver: [crm, news]
`,
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
}

const destination = (name: string, more: string) =>
  `destination: ${name}\ntype: http\nurl: http://127.0.0.1:1/${name}\nreceives: [reservation, guest]\n${more}`;
