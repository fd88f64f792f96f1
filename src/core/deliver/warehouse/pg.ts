import pg from 'pg';
import { guardedSocket } from '../../outbound/socket.ts';
import { type Connection, type Row, textRow } from './dialect.ts';
import { oneSession } from './session.ts';

/**
 * A client of somebody else's server: where its address has no password, it gets none. The library would send the one of our own
 * environment (PGPASSWORD) or of a password file.
 */
export class WarehouseClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super(config);
    const { password, searchParams } = URL.parse(config.connectionString?.replace('@/', '@host/') ?? '') ?? {};
    if (!(config.password || password || searchParams?.get('password'))) Object.assign(this, { password: '' });
  }
}

/** An engine that speaks PostgreSQL's protocol. */
export const pgConnection = (options: pg.ClientConfig, allowPrivate: boolean): Connection =>
  oneSession<pg.Client>({
    async connect({ deadlineMs }, lost) {
      const client = new WarehouseClient({
        application_name: 'innbound',
        connectionTimeoutMillis: 10_000,
        query_timeout: deadlineMs,
        keepAlive: true,
        ...options,
        ...(!allowPrivate && { stream: guardedSocket }),
      } as pg.ClientConfig);
      client.on('error', lost);
      await client.connect();
      return client;
    },
    async run(client, statements) {
      const isTransaction = statements.length > 1;
      if (isTransaction) await client.query('begin');
      let rows: Row[] = [];
      for (const { sql: text, values = {} } of statements) {
        const types = { getTypeParser: () => String };
        rows = (await client.query({ text, values: Object.values(values), types })).rows.map(textRow);
      }
      if (isTransaction) await client.query('commit');
      return rows;
    },
    end: (client) => client.end(),
    codes: [
      [/^(?:42P01|42703|3F000|3D000)$/, 'missing'],
      [/^(?:42501|28...)$/, 'denied'],
      [/^(?:22|23)...$/, 'refused'],
      // XX000: a transaction of Redshift that another one overtook (1023).
      [/^(?:40...|55P03|XX000)$/, 'busy', 1_000],
      [/^(?:08|53|57)...$|^E[A-Z]+$|^(?![0-9A-Z]{5}$)/, 'away'],
      [/^/, 'other'],
    ],
    said: ({ code = '' }) => ({ code, name: `SQLSTATE ${/^[0-9A-Z_]{1,40}$/.test(code) ? code : 'unknown'}` }),
  });
