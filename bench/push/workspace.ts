import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

export const brandId = 'BENCH';
export const integration = 'bench-grand';

/** A brand that pushes, with one http destination that gets one change per request. */
export async function writeBenchWorkspace(folder: string, sinkPort: number): Promise<void> {
  const documents = {
    'innbound.yaml': 'network: { allow_private: true }\n',
    'connectors/bench-pms.yaml': 'connector: bench-pms\n',
    [`integrations/${integration}.yaml`]: `integration: ${integration}
connector: bench-pms
brand_id: ${brandId}
timezone: Europe/Lisbon
country: PT
push: { enabled: true, rate: { requests: 100000, burst: 100000 } }
deliver: [sink]
`,
    'destinations/sink.yaml': `destination: sink
type: http
url: http://127.0.0.1:${sinkPort}/changes
receives: [reservation]
concurrency: 64
`,
  };
  for (const [file, text] of Object.entries(documents)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
}
