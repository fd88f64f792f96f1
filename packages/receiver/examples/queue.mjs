// Answers at once and works later: each delivery is a file in a folder before the 204, and a loop empties the folder. Any durable queue
// takes the place of the folder.   WEBHOOK_SECRET=whsec_… node queue.mjs
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { isNewer, recordKey, verify } from 'innbound-receiver';

const folder = process.env.QUEUE ?? 'queue';
const records = new Map(); // your database
await mkdir(folder, { recursive: true });

const server = createServer(async (request, response) => {
  if (request.method === 'GET') return response.end(JSON.stringify([...records.values()]));
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const checked = verify({ headers: request.headers, body, secrets: [process.env.WEBHOOK_SECRET] });
  if (checked.kind === 'refused') return response.writeHead(checked.status).end(checked.why);
  // Named by the idempotency key: a repeated delivery is the same file.
  const file = path.join(folder, Buffer.from(checked.id).toString('hex'));
  const handle = await open(`${file}.new`, 'w');
  await handle.writeFile(body);
  await handle.sync();
  await handle.close();
  await rename(`${file}.new`, `${file}.json`);
  response.writeHead(204).end();
  void work();
});

let working = Promise.resolve();
function work() {
  working = working.then(async () => {
    for (const name of (await readdir(folder)).filter((each) => each.endsWith('.json'))) {
      const message = JSON.parse(await readFile(path.join(folder, name), 'utf8'));
      const key = recordKey(message);
      // In any order: the version decides.
      if (isNewer(message, records.get(key))) records.set(key, message);
      await rm(path.join(folder, name));
    }
  });
  return working;
}

await work(); // what a stop left behind
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${server.address().port}/innbound`),
);
