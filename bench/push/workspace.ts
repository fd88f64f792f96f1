import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

export const brandId = 'BENCH';
export const integration = 'bench-grand';

/** Brands that push, with one http destination that gets one change per request. */
export function writeBenchWorkspace(
  folder: string,
  sinkPort: number,
  { brands = [integration], concurrency = 64 }: { brands?: readonly string[]; concurrency?: number } = {},
): Promise<void> {
  return writeDocuments(folder, {
    'innbound.yaml': 'network: { allow_private: true }\n',
    'connectors/bench-pms.yaml': 'connector: bench-pms\n',
    'destinations/sink.yaml': sinkText('sink', sinkPort, `concurrency: ${concurrency}`),
    ...Object.fromEntries(brands.map((name) => [`integrations/${name}.yaml`, pushingText(name, 'sink')])),
  });
}

export async function writeDocuments(folder: string, documents: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(documents)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
}

/** What benchmarks change in every booking would be held as an accident of the partner. */
export const pushingText = (name: string, destination: string): string => `integration: ${name}
connector: bench-pms
brand_id: ${brandId}
timezone: Europe/Lisbon
country: PT
push: { enabled: true, rate: { requests: 100000, burst: 100000 } }
guard: off
deliver: [${destination}]
`;

export const sinkText = (name: string, port: number, setting: string): string => `destination: ${name}
type: http
url: http://127.0.0.1:${port}/changes
receives: [reservation]
${setting}
`;
