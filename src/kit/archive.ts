import { createHmac, type Hmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { hmacSha256, type Key, keyOf } from './crypto.ts';

/**
 * A sealed file:
 *
 *   header   a line of JSON that describes the file and names its key, in plain text
 *   tables   compressed: each a line of JSON that names it, its rows in PostgreSQL's COPY text format, in which a row never contains a
 *            line break, and `\.`; then a line that marks the end
 *   seal     HMAC-SHA256 over everything before it, 32 bytes
 *
 * A reader checks the seal in a pass of its own before it opens the compressed part, and once more while it reads the tables: the file may
 * be changed between the two.
 */
export interface ArchiveWriter {
  table(head: object, rows: AsyncIterable<Uint8Array>): Promise<void>;
}

export interface ArchivedTable {
  readonly head: unknown;
  /** To be read completely before the next table. Whole lines, several at once. */
  readonly rows: AsyncIterable<Buffer>;
}

const mebibyte = 1024 * 1024;

/** For writing and reading, so that every file that is written can be read. */
const usualLimits = {
  headerBytes: 65_536,
  /** The largest event has 64 MiB, which are 128 MiB in COPY's hexadecimal form. */
  lineBytes: 256 * mebibyte,
  /** After decompression. */
  fileBytes: 1024 ** 4,
};

const tableEnd = '\\.\n';
const archiveEnd = '{"end":true}\n';
const sealBytes = 32;

const sealWith = (key: Key): Hmac => createHmac('sha256', hmacSha256(key.bytes, 'seal of an archive'));

/** Only for the owner. It gets its name when it is complete. */
export async function writeArchive(
  file: string,
  key: Key,
  header: object,
  work: (archive: ArchiveWriter) => Promise<void>,
): Promise<void> {
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  const output = createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true });
  const gzip = createGzip({ level: 3 });
  const seal = sealWith(key);
  const sealing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seal.update(chunk);
      done(null, chunk);
    },
    flush: (done) => done(null, seal.digest()),
  });
  const head = `${JSON.stringify(header)}\n`;
  sealing.write(head);
  gzip.pipe(sealing);
  const written = pipeline(sealing, output);
  written.catch((error: Error) => gzip.destroy(error));
  const limit = limitLines(usualLimits);
  const write = async (chunk: string | Uint8Array): Promise<void> => {
    limit(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    if (!gzip.write(chunk)) await once(gzip, 'drain');
  };
  try {
    await work({
      async table(tableHead, rows) {
        await write(`${JSON.stringify(tableHead)}\n`);
        for await (const chunk of rows) await write(chunk);
        await write(tableEnd);
      },
    });
    gzip.end(archiveEnd);
    await written;
    await rename(draft, file);
  } catch (error) {
    gzip.destroy();
    sealing.destroy();
    output.destroy();
    await rm(draft, { force: true });
    throw error;
  }
}

/** The file is not an archive, or holds what it must not hold. The message is a clause for `… cannot be read: `. */
export class DamagedArchive extends Error {}

/** The seal does not match: something was changed, added or cut off since the file was made. */
export class AlteredArchive extends Error {}

/**
 * Passes the header and the tables, each of which must be read. `unlock` finds the key that the header names; what else it returns goes
 * to `work`. Throws `DamagedArchive` or `AlteredArchive`, before `work` begins unless somebody changes the file at that time.
 */
export async function readArchive<Unlocked extends { readonly key: Key }, T>(
  file: string,
  unlock: (header: unknown) => Promise<Unlocked>,
  work: (unlocked: Unlocked, tables: AsyncIterable<ArchivedTable>) => Promise<T>,
  limits: typeof usualLimits = usualLimits,
): Promise<T> {
  const handle = await open(file, 'r');
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new DamagedArchive('it is not a file');
    const head = await headOf(handle, limits.headerBytes);
    const unlocked = await unlock(json(head));
    const sealed = () => sealedBytes(handle, stats.size, unlocked.key);
    for await (const _ of sealed());
    const gunzip = createGunzip({ chunkSize: 65_536 });
    const input = pipeline(Readable.from(without(head.length, sealed())), gunzip);
    input.catch(() => {});
    try {
      return await work(unlocked, tablesIn(linesOf(gunzip, limits)));
    } finally {
      gunzip.destroy();
      await input.catch(() => {});
    }
  } finally {
    await handle.close();
  }
}

async function headOf(handle: FileHandle, most: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(most), 0, most, 0);
  const end = buffer.subarray(0, bytesRead).indexOf(10);
  if (end === -1) throw new DamagedArchive('it does not begin with a header');
  return buffer.subarray(0, end + 1);
}

/** Everything before the seal. Fails at the end if the seal does not match. */
async function* sealedBytes(handle: FileHandle, size: number, key: Key): AsyncGenerator<Buffer> {
  const seal = sealWith(key);
  const end = Math.max(0, size - sealBytes);
  const chunk = Buffer.alloc(Math.min(end, mebibyte));
  for (let at = 0; at < end; ) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, end - at), at);
    if (bytesRead === 0) throw new AlteredArchive('it became shorter');
    at += bytesRead;
    seal.update(chunk.subarray(0, bytesRead));
    yield Buffer.from(chunk.subarray(0, bytesRead));
  }
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(sealBytes), 0, sealBytes, end);
  if (bytesRead !== sealBytes || !timingSafeEqual(buffer, seal.digest())) throw new AlteredArchive('wrong seal');
}

async function* without(first: number, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = first;
  for await (const chunk of chunks) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

function json(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8')) as unknown;
  } catch (cause) {
    throw new DamagedArchive('a line is not readable', { cause });
  }
}

/** `batches` are the lines of the file, several at once: waiting for each line costs more than reading it. */
async function* tablesIn(batches: AsyncGenerator<readonly Buffer[]>): AsyncGenerator<ArchivedTable> {
  let lines: readonly Buffer[] = [];
  let at = 0;
  const hasMore = async (): Promise<boolean> => {
    while (at === lines.length) {
      const read = await batches.next();
      if (read.done) return false;
      [lines, at] = [read.value, 0];
    }
    return true;
  };
  const next = async (): Promise<Buffer> => {
    const line = (await hasMore()) ? lines[at++] : undefined;
    if (line === undefined) throw new DamagedArchive('its end is missing');
    return line;
  };
  for (let line = await next(); line.toString('latin1') !== archiveEnd; line = await next()) {
    if (line.length > usualLimits.headerBytes) throw new DamagedArchive('the name of a table is too long');
    yield { head: json(line), rows: rows() };
  }
  // Reads on to the seal, which is checked at the end of the file.
  if (await hasMore()) throw new DamagedArchive('something follows its end');

  async function* rows(): AsyncGenerator<Buffer> {
    for (let isOver = false; !isOver; ) {
      if (!(await hasMore())) throw new DamagedArchive('its end is missing');
      const end = lines.findIndex((line, i) => i >= at && isTableEnd(line));
      isOver = end !== -1;
      const batch = lines.slice(at, isOver ? end : lines.length);
      at = isOver ? end + 1 : lines.length;
      if (batch.length > 0) yield Buffer.concat(batch);
    }
  }
}

const isTableEnd = (line: Buffer): boolean => line.length === 3 && line.toString('latin1') === tableEnd;

/** By bytes: node's own line reader also ends lines at other characters, which rows may contain. */
async function* linesOf(chunks: AsyncIterable<Buffer>, limits: typeof usualLimits): AsyncGenerator<Buffer[]> {
  const limit = limitLines(limits);
  let begun: Buffer[] = [];
  try {
    for await (const chunk of chunks) {
      limit(chunk);
      const lines: Buffer[] = [];
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        const line = chunk.subarray(from, end + 1);
        lines.push(begun.length === 0 ? line : Buffer.concat([...begun, line]));
        begun = [];
        from = end + 1;
      }
      if (from < chunk.length) begun.push(chunk.subarray(from));
      yield lines;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_') !== true) throw error;
    throw new DamagedArchive('it is not compressed as it should be', { cause: error });
  }
  if (begun.length > 0) throw new DamagedArchive('its end is missing');
}

/** Counts what it is given. Throws when a line, or all of it, exceeds its limit. */
function limitLines({ lineBytes, fileBytes }: typeof usualLimits): (chunk: Uint8Array) => void {
  let [line, file] = [0, 0];
  return (chunk) => {
    const end = chunk.lastIndexOf(10);
    line += end === -1 ? chunk.length : chunk.indexOf(10) + 1;
    const longest = line;
    if (end !== -1) line = chunk.length - end - 1;
    file += chunk.length;
    if (longest > lineBytes) throw new DamagedArchive(`a line exceeds the limit of ${lineBytes} bytes`);
    if (file > fileBytes) throw new DamagedArchive(`its tables exceed the limit of ${fileBytes} bytes`);
  };
}

/** A key made from a passphrase (scrypt). A new salt for each file. */
export function passphraseKey(
  passphrase: string,
  salt = randomBytes(16),
): { readonly key: Key; readonly salt: Buffer } {
  const bytes = scryptSync(passphrase.normalize('NFC'), salt, 32, { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 28 });
  return { key: keyOf(bytes), salt };
}
