import { createHash, randomUUID } from 'node:crypto';
import { version } from '../../../../kit/version.ts';
import { bearerCredentials, privateKeyOf, publicDer, signedJwt } from '../../../outbound/auth/assertion.ts';
import type { DestinationServices } from '../../destination.ts';
import type { Codes, Connection, Said } from '../../warehouse/dialect.ts';
import { type Answer, asking, handleIn, jsonStatements, parsed, textAt } from '../../warehouse/http.ts';
import { type Settings, stored } from './settings.ts';

export function snowflakeConnection(settings: Settings, services: DestinationServices): Connection {
  const { account, warehouse, database, schema, role } = settings;
  const host = `${account.replaceAll('_', '-').toLowerCase()}.snowflakecomputing.com`;
  const base = (settings.endpoint ?? `https://${host}`).replace(/\/$/, '');
  const ask = asking(services, keyPair(settings, services.clock), codes, saidBy);
  const url = `${base}/api/v2/statements`;
  return jsonStatements({
    ask,
    clock: services.clock,
    // A request without a name and version is refused.
    headers: { 'user-agent': `innbound/${version}` },
    url: () => `${url}?requestId=${randomUUID()}&nullable=true`,
    body({ sql, values = {} }, { deadlineMs }) {
      const bindings = Object.values(values).map((value, i) => [String(i + 1), { type: 'TEXT', value }] as const);
      const isSchema = sql.startsWith('CREATE TRANSIENT SCHEMA') || sql.includes('information_schema');
      return {
        statement: sql,
        timeout: Math.ceil(deadlineMs / 1_000),
        database: stored(database),
        ...(!isSchema && { schema: stored(schema) }),
        warehouse: stored(warehouse),
        ...(role !== undefined && { role: stored(role) }),
        ...(bindings.length > 0 && { bindings: Object.fromEntries(bindings) }),
        parameters: { TIMEZONE: 'UTC', QUERY_TAG: 'innbound' },
      };
    },
    again: (answer, status) => (status === 202 ? `${url}/${handleIn(answer, 'statementHandle')}` : undefined),
    columns: ['resultSetMetaData', 'rowType'],
    rows: ['data'],
  });
}

/** A statement signed with the user's key is the token itself; its public key is named by a fingerprint. */
function keyPair({ account, user, private_key }: Settings, clock: DestinationServices['clock']) {
  const key = privateKeyOf(private_key);
  const type = { 'x-snowflake-authorization-token-type': 'KEYPAIR_JWT' };
  if (key === undefined) {
    const message = 'private_key is not an RSA key in PEM without a passphrase';
    return bearerCredentials(clock, async () => ({ kind: 'failed', message }), type);
  }
  // Of an account locator with a region only the first part counts.
  const [first = ''] = account.toUpperCase().split('.');
  const subject = `${first}.${stored(user)}`;
  const fingerprint = createHash('sha256').update(publicDer(key)).digest('base64');
  return bearerCredentials(
    clock,
    async () => {
      const iat = Math.floor(clock.now() / 1_000);
      const exp = iat + 3_540;
      const token = signedJwt(key, { iss: `${subject}.SHA256:${fingerprint}`, sub: subject, iat, exp });
      return { kind: 'ok', token, expiresAt: exp * 1_000 };
    },
    type,
  );
}

const codes: Codes = [
  [/^40[13] |^4\d\d 390/, 'denied'],
  [/ (?:002003|002043|000904|001757) | (?:42S02|02000)$/, 'missing'],
  [/ (?:003001|000606) | 42501$/, 'denied'],
  [/ (?:000625|000604) | 57014$/, 'busy', 10_000],
  [/ 1000\d\d | 22\w{3}$/, 'refused'],
  [/^4(?:00|22) /, 'other'],
];

function saidBy({ status, text }: Answer): Said {
  const body = parsed(text);
  const code = textAt(body, 'code');
  const name = `Snowflake ${/^\d{1,6}$/.test(code) ? code : status}`;
  return {
    code: `${status} ${status === 429 ? '' : code} ${textAt(body, 'sqlState')}`,
    name,
    message: textAt(body, 'message'),
  };
}
