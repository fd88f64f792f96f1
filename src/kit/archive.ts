import { randomBytes, scryptSync } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { type Key, keyOf } from './crypto.ts';

/**
 * A compressed file: a line of JSON that describes it, tables, and a line that marks the end, without which it is incomplete. A table is a
 * line of JSON that names it, its rows in PostgreSQL's COPY text format, in which a row never contains a line break, and `\.`.
 */
export interface ArchiveWriter {
  table(head: object, rows: AsyncIterable<Uint8Array>): Promise<void>;
}

export interface ArchivedTable {
  readonly head: unknown;
  /** To be read completely before the next table. Whole lines, several at once. */
  readonly rows: AsyncIterable<Buffer>;
}

const tableEnd = '\\.\n';
const archiveEnd = '{"end":true}\n';

/** Only for the owner. It gets its name when it is complete. */
export async function writeArchive(
  file: string,
  header: object,
  work: (archive: ArchiveWriter) => Promise<void>,
): Promise<void> {
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  const output = createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true });
  const gzip = createGzip({ level: 3 });
  const written = finished(gzip.pipe(output));
  written.catch(() => {});
  output.once('error', (error) => gzip.destroy(error));
  const write = async (chunk: string | Uint8Array): Promise<void> => {
    if (!gzip.write(chunk)) await once(gzip, 'drain');
  };
  try {
    await write(`${JSON.stringify(header)}\n`);
    await work({
      async table(head, rows) {
        await write(`${JSON.stringify(head)}\n`);
        for await (const chunk of rows) await write(chunk);
        await write(tableEnd);
      },
    });
    gzip.end(archiveEnd);
    await written;
    await rename(draft, file);
  } catch (error) {
    gzip.destroy();
    output.destroy();
    await rm(draft, { force: true });
    throw error;
  }
}

/** The file is not an archive, or its end is missing. */
export class DamagedArchive extends Error {}

/** Passes the header and the tables, each of which must be read. Throws `DamagedArchive`. */
export async function readArchive<T>(
  file: string,
  work: (header: unknown, tables: AsyncIterable<ArchivedTable>) => Promise<T>,
): Promise<T> {
  const input = createReadStream(file);
  const gunzip = input.pipe(createGunzip());
  input.once('error', (error) => gunzip.destroy(error));
  const lines = linesOf(gunzip);
  const next = async (): Promise<Buffer> => {
    const read = await lines.next().catch((error: NodeJS.ErrnoException) => {
      if (error.code?.startsWith('Z_') !== true) throw error;
      throw new DamagedArchive('it is not compressed as it should be', { cause: error });
    });
    if (read.done) throw new DamagedArchive('its end is missing');
    return read.value;
  };
  const json = (line: Buffer): unknown => {
    try {
      return JSON.parse(line.toString('utf8')) as unknown;
    } catch (cause) {
      throw new DamagedArchive('a line is not readable', { cause });
    }
  };
  try {
    return await work(json(await next()), tables());
  } finally {
    gunzip.destroy();
    input.destroy();
  }

  async function* tables(): AsyncGenerator<ArchivedTable> {
    for (let line = await next(); line.toString('utf8') !== archiveEnd; line = await next()) {
      yield { head: json(line), rows: rows() };
    }
  }

  async function* rows(): AsyncGenerator<Buffer> {
    let batch: Buffer[] = [];
    let bytes = 0;
    for (let line = await next(); !isTableEnd(line); line = await next()) {
      batch.push(line);
      bytes += line.length;
      if (bytes < 65_536) continue;
      yield Buffer.concat(batch);
      [batch, bytes] = [[], 0];
    }
    if (bytes > 0) yield Buffer.concat(batch);
  }
}

const isTableEnd = (line: Buffer): boolean => line.length === 3 && line.toString('latin1') === tableEnd;

/** By bytes: node's own line reader also ends lines at other characters, which rows may contain. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const line = chunk.subarray(from, at + 1);
      yield rest.length === 0 ? line : Buffer.concat([rest, line]);
      rest = Buffer.alloc(0);
      from = at + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
  }
}

/** A key made from a passphrase (scrypt). A new salt for each file. */
export function passphraseKey(
  passphrase: string,
  salt = randomBytes(16),
): { readonly key: Key; readonly salt: Buffer } {
  const bytes = scryptSync(passphrase.normalize('NFC'), salt, 32, { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 28 });
  return { key: keyOf(bytes), salt };
}
