import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { openDuck, rewrites } from './duck.ts';

type Ask = (sql: string, values: readonly (string | null)[]) => Promise<Record<string, string | null>[]>;

interface Opened {
  readonly ask: Ask;
  close(): Promise<void>;
}

/** An engine behind PostgreSQL's protocol, on a port of the system's choice. Each connection opens its own session. */
async function startWire(password: string, open: () => Promise<Opened>) {
  const sockets = new Set<Socket>();
  /** Codes of errors for the next statements, in turn. */
  const faults: string[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    const opened = open();
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      void opened.then((session) => session.close());
    });
    socket.on('error', () => {});
    const session = new Session(socket, password, async (sql, values) => {
      const code = faults.shift();
      if (code !== undefined) throw Object.assign(new Error('as the test asks'), { code });
      return (await opened).ask(sql, values);
    });
    socket.on('data', (chunk: Buffer) => session.take(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    faults,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** DuckDB as MotherDuck offers it. `refuseWith` gives the code of an error for a statement, or none. */
export async function startDuckWire(token: string) {
  const duck = await openDuck();
  let refuse: ((sql: string, values: readonly (string | null)[]) => string | undefined) | undefined;
  const ask: Ask = async (sql, values) => {
    const code = refuse?.(sql, values);
    if (code !== undefined) throw Object.assign(new Error('refused'), { code });
    return duck.ask(sql, values);
  };
  const server = await startWire(token, async () => ({ ask, close: async () => {} }));
  return {
    endpoint: `127.0.0.1:${server.port}`,
    faults: server.faults,
    ask: duck.ask,
    refuseWith(check: typeof refuse) {
      refuse = check;
    },
    async stop() {
      await server.stop();
      duck.close();
    },
  };
}

/** PostgreSQL as Redshift: what it lacks of SUPER is put in its place, everything else runs as it is sent. */
export async function startRedshift(password: string, connection: pg.ClientConfig) {
  const admin = new pg.Client(connection);
  await admin.connect();
  await admin.query(`create domain public.super as jsonb;
    create function public.json_parse(text) returns public.super language sql immutable as 'select $1::jsonb::public.super';
    create function public.json_text(public.super) returns text language sql immutable as 'select $1::text'`);
  const server = await startWire(password, async () => {
    const client = new pg.Client(connection);
    await client.connect();
    const ask: Ask = async (sql, values) => {
      const types = { getTypeParser: () => String };
      const { rows } = await client.query({ text: rewrites.redshift(sql), values: [...values], types });
      return rows ?? [];
    };
    return { ask, close: () => client.end() };
  });
  return {
    port: server.port,
    faults: server.faults,
    query: async (sql: string): Promise<Record<string, unknown>[]> => (await admin.query(sql)).rows,
    async stop() {
      await server.stop();
      await admin.end();
    },
  };
}

/** The messages of the protocol that node-postgres sends. */
class Session {
  readonly #socket: Socket;
  readonly #token: string;
  readonly #ask: Ask;
  #bytes = Buffer.alloc(0);
  /** Of a message that is not complete. */
  #chunks: Buffer[] = [];
  #missing = 0;
  #phase: 'startup' | 'password' | 'ready' = 'startup';
  #sql = '';
  #values: (string | null)[] = [];
  #turn = Promise.resolve();
  #isFailed = false;

  constructor(socket: Socket, token: string, ask: Ask) {
    this.#socket = socket;
    this.#token = token;
    this.#ask = ask;
  }

  take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#missing -= chunk.length;
    if (this.#missing > 0) return;
    this.#bytes = Buffer.concat([this.#bytes, ...this.#chunks]);
    this.#chunks = [];
    for (;;) {
      const head = this.#phase === 'startup' ? 0 : 1;
      if (this.#bytes.length < head + 4) return;
      const length = this.#bytes.readUInt32BE(head);
      this.#missing = head + length - this.#bytes.length;
      if (this.#missing > 0) return;
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

function valuesOf(body: Buffer): (string | null)[] {
  let at = body.indexOf(0) + 1;
  at = body.indexOf(0, at) + 1;
  at += 2 + 2 * body.readInt16BE(at);
  const count = body.readUInt16BE(at);
  at += 2;
  const values: (string | null)[] = [];
  for (let i = 0; i < count; i++) {
    const length = body.readInt32BE(at);
    values.push(length < 0 ? null : body.toString('utf8', at + 4, at + 4 + length));
    at += 4 + Math.max(0, length);
  }
  return values;
}

function codeOf(message: string): string {
  if (/Table with name|Schema with name .* not found|does not exist|No such schema/i.test(message)) return '42P01';
  if (/Referenced column|does not have a column|not found in FROM clause/i.test(message)) return '42703';
  return /Conversion|Could not convert|cast|out of range|Constraint/i.test(message) ? '22P02' : 'XX001';
}
