import type { Connection as Client, Request as ClientRequest, ConnectionConfiguration } from 'tedious';
import { openSocket } from '../../../outbound/socket.ts';
import type { DestinationServices } from '../../destination.ts';
import { type Connection, EngineFailure, type Row } from '../../warehouse/dialect.ts';
import { placeOf } from '../../warehouse/place.ts';
import { oneSession } from '../../warehouse/session.ts';
import type { Settings } from './settings.ts';

const connectMs = 15_000;

export const sqlserverConnection = (settings: Settings, services: DestinationServices, timeoutMs: number): Connection =>
  oneSession<Client>({
    async connect(_limits, lost) {
      const { Connection: Tds } = await import('tedious');
      const client = new Tds((await configuration(settings, services, timeoutMs)) as ConnectionConfiguration);
      client.on('error', lost);
      client.on('end', lost);
      await new Promise<void>((resolve, reject) => {
        client.connect((error) => (error ? reject(error) : resolve()));
      });
      return client;
    },
    async run(client, statements) {
      const { Request, TYPES } = await import('tedious');
      const [first] = statements;
      const sqls = statements.map(({ sql }) => sql);
      // One request: an error in it rolls the transaction back.
      const sql =
        sqls.length > 1
          ? ['SET XACT_ABORT ON', 'BEGIN TRANSACTION', ...sqls, 'COMMIT TRANSACTION'].join(';\n')
          : (sqls[0] ?? '');
      return new Promise((resolve, reject) => {
        const rows: Row[] = [];
        const request: ClientRequest = new Request(sql, (error) => (error ? reject(error) : resolve(rows)));
        request.on('row', (cells: { metadata: { colName: string }; value: unknown }[]) => {
          rows.push(
            Object.fromEntries(cells.map(({ metadata, value }) => [metadata.colName.toLowerCase(), textOf(value)])),
          );
        });
        for (const [name, value] of Object.entries(first?.values ?? {})) {
          request.addParameter(name, TYPES.NVarChar, value, { length: Number.POSITIVE_INFINITY });
        }
        client.execSql(request);
      });
    },
    end: (client) => client.close(),
    codes: [
      [/^(?:207|208|911|2702|2760|4060) /, 'missing'],
      [/^(?:229|230|262|297|300|916|15247|18456|18470|40615) /, 'denied'],
      [/^(?:220|241|242|245|295|515|547|2628|8114|8115|8152|13608|13609) /, 'refused'],
      // A deadlock, a key that another node inserted first, conflicts of snapshots, throttling, a database that wakes up.
      [/^(?:1205|1222|2601|2627|3960|10928|10929|24556|24706|40197|40501|40613|49918|49919|49920) /, 'busy'],
      [/ ELOGIN$/, 'denied'],
      [/^[1-9]/, 'other'],
      [/^/, 'away'],
    ],
    said: ({ number = 0, code = '' }) => ({
      code: `${number} ${code}`,
      name: number > 0 ? `error ${number}` : /^[A-Z_]{1,40}$/.test(code) ? code : 'no code',
    }),
  });

async function configuration(
  { url, tenant, ca }: Settings,
  services: DestinationServices,
  requestTimeout: number,
): Promise<object> {
  const { host, port = 1_433, user, password, database, isLoopback } = placeOf(url);
  const authentication =
    tenant === undefined
      ? { type: 'default', options: { userName: user, password } }
      : {
          type: 'azure-active-directory-access-token',
          options: { token: await entraToken(tenant, user, password, services) },
        };
  return {
    server: host,
    authentication,
    options: {
      database,
      port,
      appName: 'innbound',
      connectTimeout: connectMs,
      requestTimeout,
      encrypt: !isLoopback,
      trustServerCertificate: false,
      useUTC: true,
      // Every connection passes the guard against private addresses.
      connector: () => openSocket(host, port, { allowPrivate: services.allowPrivate, timeoutMs: connectMs }),
      ...(ca !== undefined && { cryptoCredentialsDetails: { ca } }),
    },
  };
}

/** A token of a service principal; the store keeps it until it expires. */
async function entraToken(
  tenant: string,
  client_id: string,
  client_secret: string,
  { authorizer }: DestinationServices,
): Promise<string> {
  const auth = authorizer({
    type: 'oauth2',
    grant: 'client_credentials',
    token_url: `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`,
    client_id,
    client_secret,
    client_auth: 'post',
    scopes: ['https://database.windows.net/.default'],
    params: {},
  });
  const got = await auth.authorize({ method: 'POST', url: 'https://database.windows.net/', headers: {} });
  if (got.kind === 'failed') throw new EngineFailure('denied', `no token, ${got.message}`);
  return (got.request.headers.Authorization ?? '').replace(/^Bearer /, '');
}

const textOf = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  return value instanceof Date ? value.toISOString() : String(value);
};
