import { Socket } from 'node:net';
import type { Connection as Client, RowDataPacket } from 'mysql2/promise';
import { foreignText } from '../../../kit/foreign-text.ts';
import { guardedSocket } from '../../../outbound/socket.ts';
import type { DestinationServices } from '../../destination.ts';
import { type CallLimits, type Connection, EngineFailure, type Row } from '../../warehouse/dialect.ts';
import { placeOf } from '../../warehouse/place.ts';
import { ownWord } from '../../warehouse/words.ts';
import type { Settings } from './settings.ts';

const connectMs = 10_000;

export function mysqlConnection(settings: Settings, { allowPrivate }: DestinationServices): Connection {
  const { host, port = 3306, user, password, database, isLoopback } = placeOf(settings.url);
  let open: Promise<Client> | undefined;

  async function connected(): Promise<Client> {
    const { createConnection } = await import('mysql2/promise');
    const stream = () => {
      const socket = allowPrivate ? new Socket() : guardedSocket();
      return socket.connect(port, host);
    };
    const client = await createConnection({
      stream,
      host,
      user,
      password,
      database,
      charset: 'utf8mb4',
      connectTimeout: connectMs,
      // Texts, so that no digit of an amount is lost.
      dateStrings: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      // A connection to another machine is always encrypted.
      ...(!isLoopback && { ssl: { minVersion: 'TLSv1.2', ...(settings.ca !== undefined && { ca: settings.ca }) } }),
    });
    client.on('error', () => {
      open = undefined;
    });
    // A value that does not fit is an error and not a warning, whatever the server's default.
    await client.query(
      `SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO', time_zone = '+00:00'`,
    );
    return client;
  }

  async function drop(): Promise<void> {
    const broken = open;
    open = undefined;
    await broken?.then((client) => client.destroy()).catch(() => {});
  }

  async function run(
    statements: Parameters<Connection['run']>[0],
    { deadlineMs }: CallLimits,
  ): Promise<readonly Row[]> {
    open ??= connected();
    const client = await open;
    let rows: Row[] = [];
    for (const { sql, values = {}, lists } of statements) {
      const parameters = lists === undefined ? Object.values(values) : [lists];
      const [answer] = await client.query({ sql, values: parameters, timeout: deadlineMs });
      rows = Array.isArray(answer) ? (answer as RowDataPacket[]).map(textRow) : [];
    }
    return rows;
  }

  return {
    run: (statements, limits) =>
      run(statements, limits).catch(async (error: unknown) => {
        const failure = failureOf(error);
        // A refused statement leaves the connection as it was.
        if (failure.meaning !== 'refused') await drop();
        throw failure;
      }),
    close: async () => {
      await open?.then((client) => client.end()).catch(() => {});
    },
  };
}

const textRow = (row: RowDataPacket): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name.toLowerCase(), value === null ? null : String(value)]),
  );

/** Numbers of errors: MySQL and MariaDB share most. */
const meanings = new Map<number, 'missing' | 'denied' | 'busy'>([
  ...[1049, 1054, 1146, 1356].map((code) => [code, 'missing'] as const),
  ...[1044, 1045, 1142, 1143, 1227, 1370, 1698, 3118, 4151].map((code) => [code, 'denied'] as const),
  ...[1205, 1213, 1203, 1040, 1226, 3572].map((code) => [code, 'busy'] as const),
]);
/** 1153: larger than max_allowed_packet. 3819 and 4025: a CHECK that somebody added. */
const refusals: ReadonlySet<number> = new Set([
  1048, 1062, 1153, 1264, 1265, 1292, 1364, 1366, 1406, 3140, 3141, 3819, 4025, 4038,
]);

function failureOf(error: unknown): EngineFailure {
  if (error instanceof EngineFailure) return error;
  const {
    code = '',
    errno = 0,
    sqlState = '',
    message = '',
  } = error as { code?: string; errno?: number; sqlState?: string; message?: string };
  if (code === 'INNBOUND_BLOCKED_ADDRESS') return new EngineFailure('blocked', message);
  const said = `${/^[A-Z0-9_]{1,60}$/.test(code) ? code : 'no code'}${errno > 0 ? ` (${errno})` : ''}: ${foreignText(message, ownWord)}.`;
  const known = meanings.get(errno);
  if (known === 'denied') return new EngineFailure('denied', `The warehouse refuses the login or a right: ${said}`);
  if (known === 'busy') return new EngineFailure('busy', `The warehouse is busy: ${said}`, 1_000);
  if (known === 'missing') return new EngineFailure('missing', said);
  if (refusals.has(errno) || sqlState.startsWith('22'))
    return new EngineFailure('refused', `The warehouse refused the rows: ${said}`);
  if (
    errno <= 0 ||
    /^(?:E[A-Z]+|PROTOCOL_|HANDSHAKE_)/.test(code) ||
    sqlState.startsWith('08') ||
    [1053, 1077, 1290, 2013].includes(errno)
  ) {
    return new EngineFailure('away', `The warehouse cannot be reached: ${said}`);
  }
  return new EngineFailure('other', said);
}
