import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

/** A folder with these files, gone when the test ends. */
export function folderWith(t: TestContext, files: Readonly<Record<string, string | Uint8Array>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'innbound-documents-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return dir;
}

export const connector = `connector: acme-pms
pull:
  request:
    path: /api/reservations
    query: { dateFrom: "{window.from}", dateTo: "{window.to}" }
`;

export const integration = `integration: lisbon-grand
connector: acme-pms
brand_id: LIS01
timezone: Europe/Lisbon
pull:
  base_url: https://pms.example
  auth: { type: bearer, token: "\${env:LISBON_TOKEN}" }
  syncs:
    stay: { every: 15m, range: [-6d, 0d] }
deliver: [archive]
`;

export const destination = `destination: archive
type: files
path: data
`;

/** A workspace without mistakes. */
export const sound = {
  'connectors/acme-pms.yaml': connector,
  'integrations/lisbon-grand.yaml': integration,
  'destinations/archive.yaml': destination,
};
