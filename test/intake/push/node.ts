import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sealerOf } from '../../../src/composition/push.ts';
import { transaction } from '../../../src/core/store/db/pool.ts';
import { issueEndpoint, type Sealer } from '../../../src/core/store/events/endpoints.ts';
import { startService } from '../../../src/service.ts';
import { testDatabase } from '../../support/database.ts';
import { type Address, brandId, integration, minter } from './support.ts';

export interface Node extends Address {
  readonly sealer: Sealer;
}

/** A whole web node, as customers run it. `push` is what the integration says about events. */
export async function startNode(push = '{ enabled: true }', connector = 'connector: hotel\n'): Promise<Node> {
  const { url } = await testDatabase();
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-push-'));
  const documents = {
    'connectors/hotel.yaml': connector,
    'integrations/hotel.yaml': `integration: ${integration}\nconnector: hotel\nbrand_id: ${brandId}\ntimezone: Europe/Lisbon\npush: ${push}\n`,
    'innbound.yaml': 'limits: { connections_per_address: 2000 }\n',
  };
  for (const [file, text] of Object.entries(documents)) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
  const env = { DATABASE_URL: url };
  const at = { host: '127.0.0.1', port: 0 };
  const service = await startService({ env, workspaceDir: dir, ...at, role: 'web', logLevel: 'silent' });
  const { pool } = service.runtime;
  const sealer = sealerOf(service.runtime);
  const {
    endpointId,
    sandboxId,
    secret = '',
  } = await transaction(pool, (tx) => issueEndpoint(tx, integration, sealer, minter));
  const stop = async () => {
    await service.stop();
    await rm(dir, { recursive: true, force: true });
  };
  return { pool, port: Number(new URL(service.url).port), endpointId, sandboxId, secret, sealer, stop };
}
