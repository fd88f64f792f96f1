import pg from 'pg';
import { guardedSocket } from '../../outbound/socket.ts';
import {
  type CallLimits,
  type Codes,
  type Connection,
  EngineFailure,
  failureBy,
  type Row,
  type Statement,
  textRow,
} from './dialect.ts';

/** An engine that speaks PostgreSQL's protocol. One connection: the loader sends one call at a time. */
export function pgConnection(options: pg.ClientConfig, allowPrivate: boolean): Connection {
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
        for (const { sql, values = {} } of statements) rows = (await query(client, { sql, values })).rows.map(textRow);
        if (isTransaction) await client.query('commit');
        return rows;
      } catch (error) {
        // In doubt: the transaction ends with its connection.
        const broken = await open?.catch(() => undefined);
        open = undefined;
        void broken?.end().catch(() => {});
        throw failureOf(error);
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

const codes: Codes = [
  [/^(?:42P01|42703|3F000|3D000)$/, 'missing'],
  [/^(?:42501|28...)$/, 'denied'],
  [/^(?:22|23)...$/, 'refused'],
  // XX000: a transaction of Redshift that another one overtook (1023).
  [/^(?:40...|55P03|XX000)$/, 'busy', 1_000],
  [/^(?:08|53|57)...$|^E[A-Z]+$|^(?![0-9A-Z]{5}$)/, 'away'],
  [/^/, 'other'],
];

function failureOf(error: unknown): EngineFailure {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (code === 'INNBOUND_BLOCKED_ADDRESS') return new EngineFailure('blocked', message);
  const name = `SQLSTATE ${/^[0-9A-Z_]{1,40}$/.test(code) ? code : 'unknown'}`;
  return failureBy(codes, { code, name, message }) ?? new EngineFailure('other', name);
}
