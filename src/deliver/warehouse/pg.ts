import pg from 'pg';
import { foreignText } from '../../kit/foreign-text.ts';
import { guardedSocket } from '../../outbound/socket.ts';
import { type CallLimits, type Connection, EngineFailure, type Meaning, type Row, type Statement } from './dialect.ts';
import { ownWord } from './words.ts';

/** An engine that speaks PostgreSQL's protocol. One connection: the loader sends one call at a time. */
export function pgConnection(
  options: pg.ClientConfig,
  allowPrivate: boolean,
  meaning: (code: string, message: string) => Meaning | undefined = () => undefined,
): Connection {
  let open: Promise<pg.Client> | undefined;

  function connected(limits: CallLimits): Promise<pg.Client> {
    open ??= (async () => {
      const client = new pg.Client({
        application_name: 'innbound',
        connectionTimeoutMillis: 10_000,
        query_timeout: limits.deadlineMs,
        keepAlive: true,
        ...options,
        ...(!allowPrivate && { stream: guardedSocket }),
      } as pg.ClientConfig);
      client.on('error', () => {
        open = undefined;
      });
      await client.connect();
      return client;
    })();
    open.catch(() => {
      open = undefined;
    });
    return open;
  }

  return {
    async run(statements, limits) {
      try {
        const client = await connected(limits);
        const isTransaction = statements.length > 1;
        if (isTransaction) await client.query('begin');
        let rows: Row[] = [];
        for (const { sql, values = {} } of statements) rows = textRows(await query(client, { sql, values }));
        if (isTransaction) await client.query('commit');
        return rows;
      } catch (error) {
        // In doubt: the transaction ends with its connection.
        const broken = await open?.catch(() => undefined);
        open = undefined;
        void broken?.end().catch(() => {});
        throw failureOf(error, meaning);
      }
    },
    async close() {
      const client = await open?.catch(() => undefined);
      await client?.end().catch(() => {});
    },
  };
}

const query = (client: pg.Client, { sql, values = {} }: Statement) =>
  client.query({ text: sql, values: Object.values(values), types: { getTypeParser: () => String } });

const textRows = ({ rows }: pg.QueryResult): Row[] =>
  rows.map((row: object) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toLowerCase(), value])),
  );

function failureOf(error: unknown, meaning: (code: string, message: string) => Meaning | undefined): EngineFailure {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (code === 'INNBOUND_BLOCKED_ADDRESS') return new EngineFailure('blocked', message);
  const said = `SQLSTATE ${/^[0-9A-Z_]{1,40}$/.test(code) ? code : 'unknown'}: ${foreignText(message, ownWord)}.`;
  const own = meaning(code, message);
  if (own !== undefined) return new EngineFailure(own, said);
  if (/^(?:42P01|42703|3F000|3D000)$/.test(code)) return new EngineFailure('missing', said);
  if (/^(?:42501|28...)$/.test(code))
    return new EngineFailure('denied', `The warehouse refuses the login or a right: ${said}`);
  if (/^(?:22|23)...$/.test(code)) return new EngineFailure('refused', `The warehouse refused the rows: ${said}`);
  if (/^(?:40...|55P03|XX000)$/.test(code))
    return new EngineFailure('busy', `Another writer was faster: ${said}`, 1_000);
  if (/^(?:08|53|57)...$/.test(code) || !/^[0-9A-Z]{5}$/.test(code) || /^E[A-Z]+$/.test(code)) {
    return new EngineFailure('away', `The warehouse cannot be reached: ${said}`);
  }
  return new EngineFailure('other', said);
}
