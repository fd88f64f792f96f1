import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

class TooLarge extends Error {
  readonly code = 'INNBOUND_TOO_LARGE';
  constructor(maxBytes: number) {
    super(`the answer exceeds the limit of ${maxBytes} bytes`);
  }
}

class UnknownEncoding extends Error {
  readonly code = 'INNBOUND_UNKNOWN_ENCODING';
  constructor() {
    super('the answer has a content encoding that we did not accept');
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

/** Receives the chunks of a body and decodes them. Fails as soon as its size, on the wire or decoded, exceeds the limit. */
export interface Body {
  /** False if the sender should pause until `onDrain` is called. */
  write(chunk: Buffer): boolean;
  end(): void;
  /** Discards everything; nothing is reported afterwards. */
  discard(): void;
}

export interface BodyEvents {
  readonly onBytes: (bytes: Buffer) => void;
  readonly onError: (error: Error) => void;
  readonly onDrain: () => void;
}

/** Throws for an encoding that is not known. */
export function openBody(contentEncoding: string | undefined, maxBytes: number, events: BodyEvents): Body {
  const encoding = contentEncoding?.trim().toLowerCase() ?? '';
  const decoded = new Collected(maxBytes, events);
  if (encoding === '' || encoding === 'identity') return decoded;
  const decoder = decoders.get(encoding)?.();
  if (decoder === undefined) throw new UnknownEncoding();
  let wireBytes = 0;
  decoder.on('data', (chunk: Buffer) => decoded.write(chunk));
  decoder.on('end', () => decoded.end());
  // Stays until the end: an error that nobody listens for ends the process.
  decoder.on('error', (error) => decoded.fail(error));
  decoder.on('drain', events.onDrain);
  return {
    write: (chunk) => {
      wireBytes += chunk.length;
      if (wireBytes > maxBytes) decoded.fail(new TooLarge(maxBytes));
      return decoder.destroyed || decoder.write(chunk);
    },
    end: () => void decoder.end(),
    discard: () => {
      decoded.discard();
      decoder.destroy();
    },
  };
}

class Collected implements Body {
  readonly #maxBytes: number;
  readonly #events: BodyEvents;
  #chunks: Buffer[] = [];
  #size = 0;
  #isOver = false;

  constructor(maxBytes: number, events: BodyEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  write(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.fail(new TooLarge(this.#maxBytes));
    else if (!this.#isOver) this.#chunks.push(chunk);
    return true;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const [first] = this.#chunks;
    this.#events.onBytes(first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size));
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.discard();
    this.#events.onError(error);
  }

  discard(): void {
    this.#isOver = true;
    this.#chunks = [];
  }
}
