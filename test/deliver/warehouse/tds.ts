import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { openDuck, rewrites } from './duck.ts';

/**
 * A stand-in of SQL Server that speaks TDS 7.4 as its documentation ([MS-TDS]) says, as far as a client with text parameters needs it:
 * login, sp_executesql, rows of text, errors by number. Statements are executed in DuckDB after their rewrite.
 */
export async function startSqlServer(user: string, password: string) {
  const duck = await openDuck();
  const statements: string[] = [];
  const faults: number[] = [];
  const sockets = new Set<Socket>();
  const stub = {
    refused: undefined as string | undefined,
    duck,
    statements,
    /** Error numbers for the next requests, in turn. */
    faults,
    port: 0,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
      duck.close();
    },
  };

  /** Statements of one request, in one transaction if they say so. */
  async function execute(text: string, rows: string | null) {
    const fault = faults.shift();
    if (fault !== undefined) throw Object.assign(new Error('as the test asks'), { number: fault });
    if (stub.refused !== undefined && rows?.includes(`"id":"${stub.refused}"`))
      throw Object.assign(new Error('refused'), { number: 8114 });
    let answer: Record<string, string | null>[] = [];
    let isOpen = false;
    try {
      for (const sql of text.split(';\n')) {
        statements.push(sql);
        if (sql.startsWith('SET XACT_ABORT')) continue;
        isOpen = sql.startsWith('BEGIN') || (isOpen && !sql.startsWith('COMMIT'));
        const plain = rewrites.sqlserver(sql);
        answer = await duck.ask(plain, plain.includes('$1') ? [rows] : []);
      }
      return answer;
    } catch (error) {
      if (isOpen) await duck.ask('ROLLBACK');
      throw error;
    }
  }

  async function respond(type: number, body: Buffer): Promise<Buffer> {
    if (type === 0x12) return prelogin;
    if (type === 0x10) {
      const [name, secret] = loginOf(body);
      if (name !== user || secret !== password)
        return Buffer.concat([errorToken(18456, 'Login failed for user.'), done(0xfd, 2)]);
      return Buffer.concat([loginAck, done(0xfd, 0)]);
    }
    // What the client sets when it begins.
    if (type !== 0x03) return done(0xfd, 0);
    try {
      const [sql, , rows] = parametersOf(body);
      return Buffer.concat([...rowTokens(await execute(sql ?? '', rows ?? null)), done(0xfe, 0)]);
    } catch (error) {
      const { message, number = numberOf(message) } = error as Error & { number?: number };
      return Buffer.concat([errorToken(number, message), done(0xfe, 2)]);
    }
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let bytes = Buffer.alloc(0);
    let message: Buffer[] = [];
    let turn = Promise.resolve();
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 8 && bytes.length >= bytes.readUInt16BE(2)) {
        const length = bytes.readUInt16BE(2);
        const [type = 0, status = 0] = bytes;
        message.push(Buffer.from(bytes.subarray(8, length)));
        bytes = bytes.subarray(length);
        if ((status & 1) === 0) continue;
        const whole = Buffer.concat(message);
        message = [];
        turn = turn.then(async () => send(socket, await respond(type, whole)));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stub.port = (server.address() as AddressInfo).port;
  return stub;
}

function send(socket: Socket, body: Buffer): void {
  const most = 4_000;
  for (let from = 0; from < body.length; from += most) {
    const part = body.subarray(from, from + most);
    const header = Buffer.from([0x04, from + most >= body.length ? 1 : 0, 0, 0, 0, 0, 1, 0]);
    header.writeUInt16BE(part.length + 8, 2);
    socket.write(Buffer.concat([header, part]));
  }
}

const le = (size: 2 | 4 | 8, value: number): Buffer => {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntLE(value, 0, Math.min(size, 6));
  return bytes;
};
const ucs2 = (text: string) => Buffer.from(text, 'utf16le');
const short = (text: string) => Buffer.concat([Buffer.from([text.length]), ucs2(text)]);
const done = (token: number, status: number) =>
  Buffer.concat([Buffer.from([token]), le(2, status), le(2, 0), le(8, 0)]);

/** Version, and that encryption is not supported. */
const prelogin = Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0, 0, 0, 0, 2]);

const ackBody = Buffer.concat([Buffer.from([1, 0x74, 0, 0, 4]), short('Stub'), Buffer.from([16, 0, 0, 0])]);
const loginAck = Buffer.concat([Buffer.from([0xad]), le(2, ackBody.length), ackBody]);

function errorToken(number: number, message: string): Buffer {
  const text = message.slice(0, 500);
  const body = Buffer.concat([
    le(4, number),
    Buffer.from([1, 16]),
    le(2, text.length),
    ucs2(text),
    short('stub'),
    short(''),
    le(4, 1),
  ]);
  return Buffer.concat([Buffer.from([0xaa]), le(2, body.length), body]);
}

function loginOf(body: Buffer): [string, string] {
  const at = (offset: number) =>
    body.subarray(body.readUInt16LE(offset), body.readUInt16LE(offset) + 2 * body.readUInt16LE(offset + 2));
  const secret = Buffer.from(at(44).map((byte) => (((byte ^ 0xa5) << 4) | ((byte ^ 0xa5) >> 4)) & 0xff));
  return [at(40).toString('utf16le'), secret.toString('utf16le')];
}

/** The texts of sp_executesql: the statement, the declarations, then the parameters. */
function parametersOf(body: Buffer): (string | null)[] {
  let at = body.readUInt32LE(0);
  if (body.readUInt16LE(at) !== 0xffff || body.readUInt16LE(at + 2) !== 10) throw new Error('not sp_executesql');
  at += 6;
  const texts: (string | null)[] = [];
  while (at < body.length) {
    at += 1 + 2 * (body[at] ?? 0) + 1;
    if (body[at] !== 0xe7) throw new Error(`a parameter of the type ${body[at]}`);
    const isMax = body.readUInt16LE(at + 1) === 0xffff;
    at += 8;
    const [text, next] = isMax ? partsAt(body, at) : textAt(body, at);
    texts.push(text);
    at = next;
  }
  return texts;
}

function textAt(body: Buffer, at: number): [string | null, number] {
  const length = body.readUInt16LE(at);
  if (length === 0xffff) return [null, at + 2];
  return [body.toString('utf16le', at + 2, at + 2 + length), at + 2 + length];
}

function partsAt(body: Buffer, start: number): [string | null, number] {
  if (body.readBigUInt64LE(start) === 0xffffffffffffffffn) return [null, start + 8];
  let at = start + 8;
  const parts: Buffer[] = [];
  for (;;) {
    const length = body.readUInt32LE(at);
    at += 4;
    if (length === 0) return [Buffer.concat(parts).toString('utf16le'), at];
    parts.push(body.subarray(at, at + length));
    at += length;
  }
}

const collation = Buffer.from([0x09, 0x04, 0xd0, 0, 0x34]);

function rowTokens(rows: Record<string, string | null>[]): Buffer[] {
  const names = Object.keys(rows[0] ?? {});
  if (names.length === 0) return [];
  const columns = names.map((name) =>
    Buffer.concat([le(4, 0), le(2, 1), Buffer.from([0xe7]), le(2, 8_000), collation, short(name)]),
  );
  const cells = rows.map((row) =>
    Buffer.concat([
      Buffer.from([0xd1]),
      ...names.map((name) => {
        const text = row[name];
        return text == null ? le(2, 0xffff) : Buffer.concat([le(2, 2 * text.length), ucs2(text)]);
      }),
    ]),
  );
  return [Buffer.from([0x81]), le(2, names.length), ...columns, ...cells];
}

function numberOf(message: string): number {
  if (/Table with name|does not exist/i.test(message)) return 208;
  if (/Referenced (?:update )?column|does not have a column/i.test(message)) return 207;
  return /Conversion|Could not convert|out of range|Constraint/i.test(message) ? 8114 : 102;
}
