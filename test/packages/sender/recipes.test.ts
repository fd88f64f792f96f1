import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { WebhookSender } from '../../../packages/sender/src/index.ts';
import { addressFor } from '../../../src/operator/operations/endpoints.ts';
import { type Service, startService } from '../../../src/service.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

/** The recipes exactly as printed in the documentation, against the service's own endpoint. */

const run = promisify(execFile);
const docs = new URL('../../../docs/partners/', import.meta.url);
let folder: string;
let database: TestDatabase;
let service: Service;
let endpoint: { readonly url: string; readonly secret: string };

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recipes-'));
  for (const kind of ['connectors', 'integrations']) await mkdir(join(folder, kind));
  await writeFile(
    join(folder, 'connectors', 'pms.yaml'),
    'connector: pms\npush:\n  map: { id: reservation_id, rooms: { from: stays, fields: { board: board_type } } }\n  event_id: [event_id]\n',
  );
  await writeFile(
    join(folder, 'integrations', 'lisbon.yaml'),
    'integration: lisbon\nconnector: pms\nbrand_id: LIS01\ntimezone: Europe/Lisbon\ncountry: PT\npush: { enabled: true }\ndeliver: []\n',
  );
  database = await testDatabase();
  const env = { DATABASE_URL: database.url };
  service = await startService({
    env,
    workspaceDir: folder,
    host: '127.0.0.1',
    port: 0,
    role: 'web',
    logLevel: 'silent',
  });
  const issued = await addressFor(service.runtime, 'lisbon');
  endpoint = { url: `${service.url}/webhooks/${issued.endpoint_id}`, secret: issued.secret ?? '' };
});

after(async () => {
  await service?.stop();
  await database?.drop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

async function code(recipe: string, language: string): Promise<string> {
  const text = await readFile(new URL(recipe, docs), 'utf8');
  if (!recipe.endsWith('.md')) return text;
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]+?)\`\`\``).exec(text)?.[1];
  assert.ok(found, `${recipe} has a block of ${language}`);
  return found;
}

function event(id: string) {
  return {
    event: 'reservation.updated',
    event_id: id,
    timestamp: new Date().toISOString(),
    brand_id: 'LIS01',
    data: {
      reservation_id: `R-${id}`,
      check_in: '2026-06-15',
      check_out: '2026-06-18',
      status: 'confirmed',
      guests: [{ first_name: 'Leonor', last_name: 'Magalhães' }],
      stays: [],
      charges: [],
    },
  };
}

const programs = [
  { recipe: 'recipe-curl.md', language: 'sh', file: 'send.sh', program: 'sh' },
  { recipe: '../../console/partner/send.mjs', language: 'js', file: 'send.mjs', program: 'node' },
  { recipe: 'recipe-python.md', language: 'python', file: 'send.py', program: 'python3' },
  { recipe: 'recipe-php.md', language: 'php', file: 'send.php', program: 'php' },
  { recipe: 'recipe-java.md', language: 'java', file: 'SendWebhook.java', program: 'java' },
  { recipe: 'recipe-csharp.md', language: 'csharp', file: 'send.cs', program: 'dotnet' },
];
/** A further requirement for running a recipe, besides its program. */
const needs: Record<string, string[]> = {
  sh: ['-c', 'command -v curl && command -v openssl'],
  php: ['-r', 'exit(extension_loaded("curl") ? 0 : 1);'],
  // From .NET 10 on, a file runs without a project.
  dotnet: ['run', '--help'],
};

for (const { recipe, language, file, program } of programs) {
  test(`${recipe} is accepted by the endpoint`, async (context) => {
    const there = await run(program, needs[program] ?? ['--version']).then(
      () => true,
      () => false,
    );
    if (!there) return context.skip(`${program} is not on this machine`);
    const script = join(folder, file);
    const sent = join(folder, `${language}.json`);
    await writeFile(script, await code(recipe, language));
    await writeFile(sent, `${JSON.stringify(event(`recipe-${language}`), null, 2)}\n`);
    const env = { ...process.env, WEBHOOK_URL: endpoint.url, WEBHOOK_SECRET: endpoint.secret };
    const { stdout } = await run(program, program === 'dotnet' ? ['run', script, '--', sent] : [script, sent], { env });
    assert.match(stdout, /202|"accepted"/);
    const { rows } = await service.runtime.pool.query(
      'select count(*)::int as events from events where event_id = $1',
      [`recipe-${language}`],
    );
    assert.equal(rows[0]?.events, 1);
    const wrong = { ...env, WEBHOOK_SECRET: 'another' };
    if (program === 'sh') await assert.rejects(run(program, [script, sent], { env: wrong }), /401/);
  });
}

test('the endpoint accepts WebhookSender, and reports a duplicate', async () => {
  const sender = await WebhookSender.open({ ...endpoint, brandId: 'LIS01' });
  const { event_id: _, timestamp: __, ...rest } = event('sender');
  const first = await sender.send({ ...rest, event_id: 'sender-1' });
  const second = await sender.send({ ...rest, event_id: 'sender-1' });
  await sender.close();
  assert.deepEqual(first, { kind: 'delivered', eventId: 'sender-1', attempts: 1, status: 202, duplicate: false });
  assert.deepEqual(second, { kind: 'delivered', eventId: 'sender-1', attempts: 1, status: 200, duplicate: true });
});
