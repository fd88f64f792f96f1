/**
 * What Kafka has and mokapi lacks, in front of it: TLS, logins, and the numbers of an idempotent producer. mokapi expects the number of a
 * batch to be one more than that of the batch before, however many messages that had; librdkafka fails with it as our client does. So the
 * numbers are compared here as Kafka does, and mokapi gets the batches without them.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export interface Login {
  readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
  readonly username: string;
  readonly password: string;
}

export async function kafkaFront(behind: number, { tls, login }: { tls?: TlsOptions; login?: Login } = {}) {
  const sockets = new Set<Socket>();
  /** By producer, topic and partition. */
  const numbers = new Map<string, { readonly first: number; readonly next: number }>();
  const wrong: string[] = [];

  function accept(client: Socket): void {
    const broker = connect({ port: behind, host: '127.0.0.1', noDelay: true });
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    let answer = login === undefined ? undefined : loginOf(login);
    onFrames(client, (frame) => {
      const key = frame.readInt16BE(4);
      if (key === 17) return client.write(handshake(frame, login?.mechanism ?? ''));
      if (key === 36 && answer !== undefined) {
        const said = answer(frame);
        if (said.isIn) answer = undefined;
        return client.write(said.frame);
      }
      // Before a login it may only ask for versions.
      if (answer !== undefined && key !== 18) return client.destroy();
      if (key === 0) for (const batch of batchesOf(frame)) judge(frame, batch);
      return broker.write(frame);
    });
    onFrames(broker, (frame) => client.write(withPort(frame, behind, port)));
  }

  function judge(frame: Buffer, { of, at }: Batch): void {
    const [producer, first, count] = [
      frame.readBigInt64BE(at + 43),
      frame.readInt32BE(at + 53),
      frame.readInt32BE(at + 57),
    ];
    if (producer < 0n) return void wrong.push(`${of}: no producer`);
    const place = `${producer} ${of}`;
    const last = numbers.get(place);
    // The last batch may come again, after an answer that was lost.
    if (first !== (last?.next ?? 0) && first !== last?.first)
      wrong.push(`${place}: ${first} instead of ${last?.next ?? 0}`);
    numbers.set(place, { first, next: first + count });
    frame.fill(0xff, at + 43, at + 57);
    frame.writeUInt32BE(crc32c(frame.subarray(at + 21, at + 12 + frame.readInt32BE(at + 8))), at + 17);
  }

  const server = tls === undefined ? createServer({ noDelay: true }, accept) : createTlsServer(tls, accept);
  let port = 0;
  const start = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  };
  await start();
  return {
    broker: `127.0.0.1:${port}`,
    wrong,
    start,
    async kill() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function onFrames(socket: Socket, take: (frame: Buffer) => unknown): void {
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)) {
      const end = 4 + bytes.readInt32BE(0);
      take(Buffer.from(bytes.subarray(0, end)));
      bytes = bytes.subarray(end);
    }
  });
}

/** The address of the broker in its answers. */
function withPort(frame: Buffer, from: number, to: number): Buffer {
  const host = Buffer.from('127.0.0.1');
  for (let at = frame.indexOf(host); at >= 0; at = frame.indexOf(host, at + 1)) {
    const place = at + host.length;
    if (place + 4 <= frame.length && frame.readInt32BE(place) === from) frame.writeInt32BE(to, place);
  }
  return frame;
}

interface Batch {
  readonly of: string;
  readonly at: number;
}

class Reader {
  readonly #bytes: Buffer;
  readonly #isCompact: boolean;
  at = 8;
  constructor(bytes: Buffer, isCompact: boolean) {
    this.#bytes = bytes;
    this.#isCompact = isCompact;
  }
  skip(count: number): void {
    this.at += count;
  }
  int(size: 2 | 4): number {
    this.at += size;
    return this.#bytes.readIntBE(this.at - size, size);
  }
  #varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  length(size: 2 | 4): number {
    return this.#isCompact ? this.#varint() - 1 : this.int(size);
  }
  text(): string {
    const length = Math.max(0, this.length(2));
    this.at += length;
    return this.#bytes.toString('utf8', this.at - length, this.at);
  }
  /** Fields that are only in compact messages; nobody sends any. */
  tags(): void {
    if (this.#isCompact) this.#varint();
  }
}

function* batchesOf(frame: Buffer): Generator<Batch> {
  const reader = new Reader(frame, frame.readInt16BE(6) >= 9);
  reader.skip(4);
  reader.skip(Math.max(0, reader.int(2)));
  reader.tags();
  reader.text();
  reader.skip(6);
  for (let topics = reader.length(4); topics > 0; topics--) {
    const topic = reader.text();
    for (let partitions = reader.length(4); partitions > 0; partitions--) {
      const of = `${topic}/${reader.int(4)}`;
      const end = reader.length(4) + reader.at;
      while (reader.at < end) {
        yield { of, at: reader.at };
        reader.skip(12 + frame.readInt32BE(reader.at + 8));
      }
      reader.tags();
    }
    reader.tags();
  }
}

const table = Uint32Array.from({ length: 256 }, (_, i) => {
  let value = i;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});
const crc32c = (bytes: Buffer): number =>
  ~bytes.reduce((crc, byte) => (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8), 0xffffffff) >>> 0;

const int16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const int32 = (value: number) => Buffer.concat([int16(value >>> 16), int16(value & 0xffff)]);
const framed = (...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([int32(body.length), body]);
};

function handshake(frame: Buffer, mechanism: string): Buffer {
  const asked = new Reader(frame, false);
  asked.skip(4);
  asked.text();
  const code = asked.text() === mechanism ? 0 : 33;
  return framed(frame.subarray(8, 12), int16(code), int32(1), int16(mechanism.length), Buffer.from(mechanism));
}

/** The server's side of a login: RFC 4616 and RFC 5802. */
function loginOf({ mechanism, username, password }: Login) {
  const algorithm = mechanism === 'SCRAM-SHA-512' ? 'sha512' : 'sha256';
  const hmac = (key: Buffer, text: string) => createHmac(algorithm, key).update(text).digest();
  const digest = (bytes: Buffer) => createHash(algorithm).update(bytes).digest();
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, 4_096, digest(salt).length, algorithm);
  const said: string[] = [];

  function turn(text: string): string | undefined {
    if (mechanism === 'PLAIN') return text === `\0${username}\0${password}` ? '' : undefined;
    if (said.length === 0) {
      const [, bare = '', nonce = ''] = /^n,,(n=[^,]+,r=([^,]+))$/.exec(text) ?? [];
      if (!bare.startsWith(`n=${username},`)) return undefined;
      said.push(bare, `r=${nonce}${randomBytes(9).toString('base64')},s=${salt.toString('base64')},i=4096`);
      return said[1];
    }
    const [, start = '', proof = ''] = /^(c=biws,r=[^,]+),p=(.+)$/.exec(text) ?? [];
    const all = [...said, start].join(',');
    const stored = digest(hmac(salted, 'Client Key'));
    const signature = hmac(stored, all);
    const given = Buffer.from(Buffer.from(proof, 'base64').map((byte, i) => byte ^ (signature[i] ?? 0)));
    if (!said[1]?.startsWith(start.slice('c=biws,'.length)) || !digest(given).equals(stored)) return undefined;
    return `v=${hmac(hmac(salted, 'Server Key'), all).toString('base64')}`;
  }

  return (frame: Buffer) => {
    const reader = new Reader(frame, true);
    reader.skip(4);
    reader.skip(Math.max(0, reader.int(2)));
    reader.tags();
    const text = turn(reader.text());
    const bytes = Buffer.from(text ?? '');
    const answer = [frame.subarray(8, 12), Buffer.of(0), int16(text === undefined ? 58 : 0), Buffer.of(0)];
    const body = [...answer, Buffer.of(bytes.length + 1), bytes, Buffer.alloc(8), Buffer.of(0)];
    return { isIn: text !== undefined && !text.startsWith('r='), frame: framed(...body) };
  };
}
