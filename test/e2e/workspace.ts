import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** A workspace of one hotel that follows the interface description, delivering to files. */
export async function hotelWorkspace(baseUrl: string): Promise<{ dir: string; remove: () => Promise<void> }> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-e2e-'));
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  };
  await write('innbound.yaml', 'network: { allow_private: true }\n');
  await write(
    'connectors/hotel.yaml',
    `connector: hotel
pull:
  request: { method: GET, path: /api/reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }
  single: { path: "/api/reservations/{id}" }
  pagination: { type: offset, offset: query.offset, limit: query.limit, page_size: 50 }
shape: { root_path: reservations }
values:
  board: { room_only: [RO], bed_and_breakfast: [BB], half_board: [HB], full_board: [FB], all_inclusive: [AI] }
`,
  );
  await write(
    'integrations/grand.yaml',
    `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
country: PT
pull:
  base_url: ${baseUrl}
  auth: { type: bearer, token: letmein }
  syncs:
    pre_stay: { every: 15m, range: [+1d, +60d] }
    stay: { every: 15m, range: [-30d, 0d] }
    post_stay: { every: 15m, range: [-60d, -1d] }
push: { enabled: true }
deliver: [lake]
`,
  );
  await write('destinations/lake.yaml', 'destination: lake\ntype: files\npath: out\n');
  // A service that a later hook of the test ends may still write; the suite removes everything at its end.
  return { dir, remove: () => rm(dir, { recursive: true, force: true }).catch(() => {}) };
}

export interface DeliveredLine {
  readonly type: string;
  readonly integration: string;
  readonly brand_id: string;
  readonly event: string;
  readonly version: number;
  readonly idempotency_key: string;
  readonly data: { readonly id: string; readonly [key: string]: unknown };
}

/** Every line that a files destination has written, in the order of its files. */
export async function deliveredLines(folder: string): Promise<DeliveredLine[]> {
  const files = (await readdir(folder, { recursive: true }).catch(() => [])).filter((file) => file.endsWith('.ndjson'));
  const lines: DeliveredLine[] = [];
  for (const file of files.sort()) {
    for (const line of (await readFile(path.join(folder, file), 'utf8')).split('\n')) {
      if (line !== '') lines.push(JSON.parse(line) as DeliveredLine);
    }
  }
  return lines;
}
