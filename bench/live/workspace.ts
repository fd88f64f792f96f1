import { writeDocuments } from '../push/workspace.ts';

/** Documents for two brands of one hotel system and two destinations. */
export async function writeWorkspace(
  dir: string,
  partnerUrl: string,
  sinks: ReadonlyMap<string, string>,
): Promise<void> {
  const write = (file: string, text: string) => writeDocuments(dir, { [file]: text });
  await write('innbound.yaml', 'network: { allow_private: true }\n');
  await write(
    'connectors/pms.yaml',
    `connector: pms
pull:
  request: { path: /reservations, query: { from: "{window.from}", to: "{window.to}" } }
  pagination: { type: offset, offset: query.offset, limit: query.limit, page_size: 2 }
push: {}
shape: { root_path: reservations }
`,
  );
  for (const [name, url] of sinks) {
    await write(
      `destinations/${name}.yaml`,
      `destination: ${name}
type: http
url: ${url}
timeout: 2s
retry: [1s, 1s, 2s, 2s, 4s, 4s, 8s, 8s, 16s, 16s]
batch: { size: 1 }
concurrency: 8
`,
    );
  }
  for (const name of ['lisbon', 'porto']) {
    await write(
      `integrations/${name}.yaml`,
      `integration: ${name}
connector: pms
brand_id: ${name.toUpperCase()}
timezone: UTC
country: PT
pull:
  base_url: ${partnerUrl}/${name}
  auth: { type: none }
  syncs: { pre_stay: { every: 60m, range: [+1d, +7d] } }
push: { enabled: true }
deliver: [${[...sinks.keys()].join(', ')}]
`,
    );
  }
}
