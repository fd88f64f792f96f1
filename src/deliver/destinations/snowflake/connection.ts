import { createHash, randomUUID } from 'node:crypto';
import { foreignText } from '../../../kit/foreign-text.ts';
import { version } from '../../../kit/version.ts';
import { bearerCredentials, privateKeyOf, publicDer, signedJwt } from '../../../outbound/auth/assertion.ts';
import { clockDifference } from '../../../outbound/auth/token-request.ts';
import type { DestinationServices } from '../../destination.ts';
import { type CallLimits, type Connection, EngineFailure, type Row, type Statement } from '../../warehouse/dialect.ts';
import { type Answer, asking, at, namedRows, oneByOne, parsed, textAt } from '../../warehouse/http.ts';
import { ownWord } from '../../warehouse/words.ts';
import { type Settings, stored } from './settings.ts';

const pollMs = 500;

export function snowflakeConnection(settings: Settings, services: DestinationServices): Connection {
  const { account, warehouse, database, schema, role } = settings;
  const host = `${account.replaceAll('_', '-').toLowerCase()}.snowflakecomputing.com`;
  const base = (settings.endpoint ?? `https://${host}`).replace(/\/$/, '');
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    // A request without a name and version is refused.
    'user-agent': `innbound/${version}`,
  };
  const ask = asking(services, keyPair(settings, services.clock), (answer) => explain(answer, services.clock.now()));

  async function runOne({ sql, values = {} }: Statement, limits: CallLimits): Promise<Row[]> {
    const bindings = Object.values(values).map((value, i) => [String(i + 1), { type: 'TEXT', value }] as const);
    const isSchema = sql.startsWith('CREATE TRANSIENT SCHEMA') || sql.includes('information_schema');
    const body = {
      statement: sql,
      timeout: Math.ceil(limits.deadlineMs / 1_000),
      database: stored(database),
      ...(!isSchema && { schema: stored(schema) }),
      warehouse: stored(warehouse),
      ...(role !== undefined && { role: stored(role) }),
      ...(bindings.length > 0 && { bindings: Object.fromEntries(bindings) }),
      parameters: { TIMEZONE: 'UTC', QUERY_TAG: 'innbound' },
    };
    const url = `${base}/api/v2/statements?requestId=${randomUUID()}&nullable=true`;
    let answer = await ask({ method: 'POST', url, headers, body: JSON.stringify(body) }, limits);
    while (answer.status === 202) {
      const handle = textAt(parsed(answer.text), 'statementHandle');
      if (handle === '') throw new EngineFailure('away', 'The warehouse answered without the handle of its statement.');
      await services.clock.wait(pollMs, limits.signal);
      answer = await ask(
        { method: 'GET', url: `${base}/api/v2/statements/${encodeURIComponent(handle)}`, headers },
        limits,
      );
    }
    const result = parsed(answer.text);
    const columns = at(result, 'resultSetMetaData', 'rowType');
    const names = Array.isArray(columns) ? columns.map((column) => textAt(column, 'name')) : [];
    return namedRows(names, at(result, 'data'));
  }

  return oneByOne(runOne);
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

/** 422 and 400 say in the body what is wrong. The message may quote a value: only known words are shown. */
function explain({ status, text, headers }: Answer, nowMs: number): EngineFailure | undefined {
  if (![400, 401, 403, 422].includes(status)) return undefined;
  const body = parsed(text);
  const code = textAt(body, 'code');
  const state = textAt(body, 'sqlState');
  const said = `Snowflake ${/^\d{1,6}$/.test(code) ? code : status}: ${foreignText(textAt(body, 'message'), ownWord)}.`;
  if (status === 401 || status === 403 || /^390\d{3}$/.test(code)) {
    return new EngineFailure('denied', `The warehouse refuses the login${clockDifference(headers, nowMs)}: ${said}`);
  }
  if (['002003', '002043', '000904', '001757'].includes(code) || state === '42S02' || state === '02000') {
    return new EngineFailure('missing', `An object is missing, or the role may not see it: ${said}`);
  }
  if (code === '003001' || state === '42501') return new EngineFailure('denied', `A right is missing: ${said}`);
  if (code === '000606')
    return new EngineFailure('denied', `The warehouse does not exist, or the role may not use it: ${said}`);
  if (code === '000625' || code === '000604' || state === '57014')
    return new EngineFailure('busy', `The table is locked by other statements: ${said}`, 10_000);
  if (/^22/.test(state) || /^1000\d\d$/.test(code))
    return new EngineFailure('refused', `The warehouse refused the rows: ${said}`);
  return new EngineFailure('other', said);
}
