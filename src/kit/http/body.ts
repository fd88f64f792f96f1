import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

class TooLarge extends Error {
  readonly code = 'INNBOUND_TOO_LARGE';
  constructor(maxBytes: number) {
    super(`the answer exceeds the limit of ${maxBytes} bytes`);
  }
}

class UnknownEncoding extends Error {
  readonly code = 'INNBOUND_UNKNOWN_ENCODING';
  constructor(encoding: string) {
    super(`the answer has the content encoding ${JSON.stringify(encoding.slice(0, 40))}, which we did not accept`);
  }
}

export const acceptedEncodings = 'gzip, deflate, br, zstd';

/** A Map: the key is the server's text, and a plain object would also answer to `constructor`. */
const decoders = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/** The decoded body. Stops as soon as its size, on the wire or decoded, exceeds `maxBytes`. */
export async function readBody(wire: Readable, contentEncoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const encoding = (contentEncoding ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return collect(wire, maxBytes);
  const decoder = decoders.get(encoding)?.();
  // A stream destroyed before its end emits an error, which ends the process unless somebody listens.
  wire.on('error', () => {});
  if (decoder === undefined) {
    wire.destroy();
    throw new UnknownEncoding(encoding);
  }
  let wireBytes = 0;
  wire.on('data', (chunk: Buffer) => {
    wireBytes += chunk.length;
    if (wireBytes > maxBytes) wire.destroy(new TooLarge(maxBytes));
  });
  wire.on('error', (error) => decoder.destroy(error));
  wire.pipe(decoder);
  try {
    return await collect(decoder, maxBytes);
  } finally {
    wire.destroy();
  }
}

function collect(stream: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) stream.destroy(new TooLarge(maxBytes));
    });
    stream.on('error', reject);
    stream.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)));
    stream.on('close', () => reject(new Error('the answer ended too early')));
  });
}
