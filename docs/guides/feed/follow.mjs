// Follows the feed of changes into a file, one change per line. Stop it at any time: it continues where it was.
//   INNBOUND_URL=https://innbound.example INNBOUND_TOKEN=ib_… node follow.mjs changes.ndjson
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const { INNBOUND_URL: url, INNBOUND_TOKEN: token } = process.env;
const target = process.argv[2] ?? 'changes.ndjson';
const cursorFile = `${target}.cursor`;

let cursor = await readFile(cursorFile, 'utf8').catch(() => '');

for (;;) {
  const query = new URLSearchParams({ limit: '200', wait: '25', ...(cursor !== '' && { after: cursor }) });
  const answer = await fetch(`${url}/api/v1/changes?${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(60_000),
  }).catch(() => undefined);

  if (answer?.status === 410) {
    // The service was restored from a backup: read everything again.
    cursor = '';
    continue;
  }
  if (answer === undefined || answer.status === 429 || answer.status >= 500) {
    await sleep(1_000 * Number(answer?.headers.get('retry-after') ?? 5));
    continue;
  }
  if (!answer.ok) throw new Error(`${answer.status} ${(await answer.json()).detail}`);

  const page = await answer.json().catch(() => undefined);
  if (page === undefined) continue; // The answer broke off.
  await appendFile(target, page.changes.map((change) => `${JSON.stringify(change)}\n`).join(''));
  // Only after the changes are stored. If the program stops in between, it reads them again: idempotency_key tells.
  await writeFile(`${cursorFile}.new`, page.cursor);
  await rename(`${cursorFile}.new`, cursorFile);
  cursor = page.cursor;
}
