import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  AlteredArchive,
  type ArchivedTable,
  DamagedArchive,
  readArchive,
  writeArchive,
} from '../../src/kit/archive.ts';
import { newKey } from '../../src/kit/crypto.ts';

let dir: string;
let file: string;
const key = newKey();
const unlock = async (header: unknown) => ({ key, header });

before(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-archive-'));
  file = path.join(dir, 'one');
});
after(() => rm(dir, { recursive: true, force: true }));

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function contents(_: unknown, tables: AsyncIterable<ArchivedTable>): Promise<[unknown, number][]> {
  const found: [unknown, number][] = [];
  for await (const { head, rows } of tables) {
    let bytes = 0;
    for await (const lines of rows) bytes += lines.length;
    found.push([head, bytes]);
  }
  return found;
}

test('what is written is read again, and a write that fails leaves no file', async () => {
  await writeArchive(file, key, { a: 1 }, async (archive) => {
    await archive.table({ table: 'one' }, chunks('a\tb\nc', '\td\n'));
    await archive.table({ table: 'empty' }, chunks());
  });
  assert.deepEqual(await readArchive(file, unlock, contents), [
    [{ table: 'one' }, 8],
    [{ table: 'empty' }, 0],
  ]);
  assert.deepEqual(await readArchive(file, unlock, async ({ header }) => header), { a: 1 });
  const failing = writeArchive(path.join(dir, 'two'), key, {}, () => Promise.reject(new Error('no rows')));
  await assert.rejects(failing, /no rows/);
  assert.deepEqual(await readdir(dir), ['one']);
});

test('a file that is changed while it is read fails before its end', async () => {
  // Larger than what is read ahead, and not to be compressed.
  const text = `${randomBytes(3_000_000).toString('hex')}\n`;
  await writeArchive(file, key, {}, (archive) => archive.table({ table: 'one' }, chunks(text)));
  const { size } = await stat(file);
  const changed = readArchive(file, unlock, async (unlocked, tables) => {
    const handle = await open(file, 'r+');
    const byte = Buffer.alloc(1);
    await handle.read(byte, 0, 1, size - 1_000);
    await handle.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, size - 1_000);
    await handle.close();
    return contents(unlocked, tables);
  });
  await assert.rejects(changed, (error) => error instanceof AlteredArchive || error instanceof DamagedArchive);
  await appendFile(file, 'x');
  await assert.rejects(readArchive(file, unlock, contents), AlteredArchive);
});

test('a line and a file have limits, which are counted as the bytes come', async () => {
  const limits = { headerBytes: 100, lineBytes: 1_000_000, fileBytes: 3_000_000 };
  const read = () => readArchive(file, unlock, contents, limits);
  const write = (...rows: string[]) =>
    writeArchive(file, key, {}, (archive) => archive.table({ table: 'one' }, chunks(...rows)));
  const row = `${'x'.repeat(900_000)}\n`;
  await write(row, row, row);
  assert.deepEqual(await read(), [[{ table: 'one' }, 2_700_003]]);
  await write(`${'x'.repeat(1_000_000)}\n`);
  await assert.rejects(read(), /a line exceeds the limit of 1000000 bytes/);
  await write(row, row, row, row);
  await assert.rejects(read(), /its tables exceed the limit of 3000000 bytes/);
  await writeArchive(file, key, { long: 'x'.repeat(100) }, async () => {});
  await assert.rejects(read(), /does not begin with a header/);
});

test('a line of 64 MB takes no longer than as many bytes in short lines', { timeout: 60_000 }, async () => {
  await writeArchive(file, key, {}, (archive) => archive.table({}, chunks(`${'x'.repeat(64_000_000)}\n`)));
  assert.deepEqual(await readArchive(file, unlock, contents), [[{}, 64_000_001]]);
});
