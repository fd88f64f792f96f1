import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { DuckDBInstance } from '@duckdb/node-api';

/** DuckDB behind PostgreSQL's protocol, as MotherDuck offers it: one text parameter at most, all answers as text. */
export async function startDuckWire(token: string) {
  const instance = await DuckDBInstance.create(':memory:');
  const db = await instance.connect();
  await db.run(`set timezone = 'UTC'`);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    const session = new Session(socket, token, (sql, values) => ask(sql, values));
    socket.on('data', (chunk: Buffer) => session.take(chunk));
  });
  let refuse: ((sql: string, values: readonly string[]) => string | undefined) | undefined;
  const ask = async (sql: string, values: readonly string[] = []) => {
    const code = refuse?.(sql, values);
    if (code !== undefined) throw Object.assign(new Error('refused'), { code });
    const prepared = await db.prepare(sql);
    for (const [i, value] of values.entries()) prepared.bindVarchar(i + 1, value);
    const result = await prepared.runAndReadAll();
    const names = result.columnNames();
    return result
      .getRows()
      .map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] == null ? null : String(row[i])])));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    ask,
    refuseWith(check: typeof refuse) {
      refuse = check;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
      db.closeSync();
      instance.closeSync();
    },
  };
}

type Ask = (sql: string, values: readonly string[]) => Promise<Record<string, string | null>[]>;

/** The messages of the protocol that node-postgres sends. */
class Session {
  readonly #socket: Socket;
  readonly #token: string;
  readonly #ask: Ask;
  #bytes = Buffer.alloc(0);
  #phase: 'startup' | 'password' | 'ready' = 'startup';
  #sql = '';
  #values: string[] = [];
  #turn = Promise.resolve();
  #isFailed = false;

  constructor(socket: Socket, token: string, ask: Ask) {
    this.#socket = socket;
    this.#token = token;
    this.#ask = ask;
  }

  take(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      const head = this.#phase === 'startup' ? 0 : 1;
      if (this.#bytes.length < head + 4) return;
      const length = this.#bytes.readUInt32BE(head);
      if (this.#bytes.length < head + length) return;
      const type = head === 0 ? 'startup' : String.fromCharCode(this.#bytes[0] ?? 0);
      const body = this.#bytes.subarray(head + 4, head + length);
      this.#bytes = this.#bytes.subarray(head + length);
      if (type === 'startup') {
        this.#phase = 'password';
        this.#send('R', int(3));
      } else this.#turn = this.#turn.then(() => this.#handle(type, Buffer.from(body)));
    }
  }

  async #handle(type: string, body: Buffer): Promise<void> {
    if (type === 'p') {
      if (body.toString('utf8').replace(/\0$/, '') !== this.#token) return this.#fail('28P01', 'invalid token');
      this.#phase = 'ready';
      this.#send('R', int(0));
      this.#send('Z', Buffer.from('I'));
    } else if (type === 'P') {
      this.#isFailed = false;
      const [, sql = ''] = body.toString('utf8').split('\0');
      this.#sql = sql;
      this.#send('1');
    } else if (type === 'B') {
      this.#values = valuesOf(body);
      this.#send('2');
    } else if (type === 'E') await this.#execute();
    else if (type === 'S') this.#send('Z', Buffer.from('I'));
    else if (type === 'Q') {
      this.#sql = body.toString('utf8').replace(/\0$/, '');
      this.#values = [];
      await this.#execute();
      this.#send('Z', Buffer.from('I'));
    }
  }

  async #execute(): Promise<void> {
    if (this.#isFailed) return;
    try {
      const rows = await this.#ask(this.#sql, this.#values);
      const names = Object.keys(rows[0] ?? {});
      const fields = names.map((name) => Buffer.concat([text(name), Buffer.alloc(18)]));
      if (names.length > 0) this.#send('T', Buffer.concat([short(names.length), ...fields]));
      for (const row of rows) {
        const cells = names.map((name) =>
          row[name] == null ? int(-1) : Buffer.concat([int(Buffer.byteLength(row[name])), Buffer.from(row[name])]),
        );
        this.#send('D', Buffer.concat([short(names.length), ...cells]));
      }
      this.#send('C', text(`SELECT ${rows.length}`));
    } catch (error) {
      const { message, code = codeOf(message) } = error as Error & { code?: string };
      this.#isFailed = true;
      this.#fail(code, message);
    }
  }

  #fail(code: string, message: string): void {
    this.#send('E', Buffer.concat([text('SERROR'), text(`C${code}`), text(`M${message}`), Buffer.from([0])]));
  }

  #send(type: string, body: Buffer = Buffer.alloc(0)): void {
    this.#socket.write(Buffer.concat([Buffer.from(type), int(body.length + 4), body]));
  }
}

const int = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const short = (value: number) => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};
const text = (value: string) => Buffer.from(`${value}\0`, 'utf8');

function valuesOf(body: Buffer): string[] {
  let at = body.indexOf(0) + 1;
  at = body.indexOf(0, at) + 1;
  at += 2 + 2 * body.readInt16BE(at);
  const count = body.readInt16BE(at);
  at += 2;
  const values: string[] = [];
  for (let i = 0; i < count; i++) {
    const length = body.readInt32BE(at);
    values.push(body.toString('utf8', at + 4, at + 4 + Math.max(0, length)));
    at += 4 + Math.max(0, length);
  }
  return values;
}

export function codeOf(message: string): string {
  if (/Table with name|Schema with name .* not found|does not exist|No such schema/i.test(message)) return '42P01';
  if (/Referenced column|does not have a column|not found in FROM clause/i.test(message)) return '42703';
  return /Conversion|Could not convert|cast|out of range|Constraint/i.test(message) ? '22P02' : 'XX001';
}
