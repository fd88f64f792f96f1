import { Socket } from 'node:net';
import type { Connection as Client, RowDataPacket } from 'mysql2/promise';
import { guardedSocket } from '../../../outbound/socket.ts';
import type { DestinationServices } from '../../destination.ts';
import { type Connection, type Row, textRow } from '../../warehouse/dialect.ts';
import { placeOf } from '../../warehouse/place.ts';
import { oneSession } from '../../warehouse/session.ts';
import type { Settings } from './settings.ts';

const connectMs = 10_000;

export function mysqlConnection({ url, ca }: Settings, { allowPrivate }: DestinationServices): Connection {
  const { host, port = 3306, user, password, database, isLoopback } = placeOf(url);
  return oneSession<Client>({
    async connect(_limits, lost) {
      const { createConnection } = await import('mysql2/promise');
      const client = await createConnection({
        stream: () => (allowPrivate ? new Socket() : guardedSocket()).connect(port, host),
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
        ...(!isLoopback && { ssl: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) } }),
      });
      client.on('error', lost);
      // A value that does not fit is an error and not a warning, whatever the server's default.
      await client.query(
        `SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO', time_zone = '+00:00'`,
      );
      return client;
    },
    async run(client, statements, { deadlineMs }) {
      let rows: Row[] = [];
      for (const { sql, values } of statements) {
        // With values, even none, the library looks through megabytes of literals for places.
        const given = values && { values: Object.values(values) };
        const [answer] = await client.query({ sql, timeout: deadlineMs, ...given });
        rows = Array.isArray(answer) ? (answer as RowDataPacket[]).map(textRow) : [];
      }
      return rows;
    },
    end: (client) => client.destroy(),
    // MySQL and MariaDB share most numbers. 1153: larger than max_allowed_packet. 3819 and 4025: a CHECK that somebody added.
    codes: [
      [/^(?:1049|1054|1146|1356) /, 'missing'],
      [/^(?:1044|1045|1142|1143|1227|1370|1698|3118|4151) /, 'denied'],
      [/^(?:1021|1040|1114|1203|1205|1213|1226|3572) /, 'busy', 1_000],
      [/^(?:1048|1062|1153|1264|1265|1292|1364|1366|1406|3140|3141|3819|4025|4038) |^\d+ 22/, 'refused'],
      // Also a server that is only read, or shuts down.
      [/^(?:0|-\d+|1053|1077|1290|1836|2013) | 08\w{3} | (?:E[A-Z]+|(?:PROTOCOL|HANDSHAKE)_\w+)$/, 'away'],
      [/^/, 'other'],
    ],
    said({ code = '', errno = 0, sqlState = '' }) {
      const name = `${/^[A-Z0-9_]{1,60}$/.test(code) ? code : 'no code'}${errno > 0 ? ` (${errno})` : ''}`;
      return { code: `${errno} ${sqlState} ${code}`, name };
    },
  });
}
