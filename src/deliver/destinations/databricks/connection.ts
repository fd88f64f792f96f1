import { foreignText } from '../../../kit/foreign-text.ts';
import { bearerCredentials } from '../../../outbound/auth/assertion.ts';
import type { Authorizer } from '../../../outbound/auth/outgoing.ts';
import type { DestinationServices } from '../../destination.ts';
import { type CallLimits, type Connection, EngineFailure, type Row, type Statement } from '../../warehouse/dialect.ts';
import { type Answer, asking, at, namedRows, oneByOne, parsed, textAt } from '../../warehouse/http.ts';
import { ownWord } from '../../warehouse/words.ts';
import type { Settings } from './settings.ts';

const pollMs = 500;

export function databricksConnection(settings: Settings, services: DestinationServices): Connection {
  const { warehouse_id, catalog, schema } = settings;
  const base = (settings.endpoint ?? `https://${settings.host}`).replace(/\/$/, '');
  const path = `${base}/api/2.0/sql/statements/`;
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const ask = asking(services, credentialsOf(settings, base, services), explain);

  async function runOne({ sql, values = {} }: Statement, limits: CallLimits): Promise<Row[]> {
    const parameters = Object.entries(values).map(([name, value]) => ({ name, value, type: 'STRING' }));
    const body = {
      statement: sql,
      warehouse_id,
      catalog,
      // The schema may have to be created first.
      ...(!sql.startsWith('CREATE SCHEMA') && !sql.includes('information_schema') && { schema }),
      ...(parameters.length > 0 && { parameters }),
      wait_timeout: '30s',
      on_wait_timeout: 'CONTINUE',
      disposition: 'INLINE',
      format: 'JSON_ARRAY',
    };
    let answer = await ask({ method: 'POST', url: path, headers, body: JSON.stringify(body) }, limits);
    for (;;) {
      const result = parsed(answer.text);
      const state = textAt(result, 'status', 'state');
      if (state === 'SUCCEEDED') return rowsIn(result);
      // A statement that failed is a 200.
      if (state === 'FAILED' || state === 'CANCELED' || state === 'CLOSED') throw failureOf(result, state);
      const id = textAt(result, 'statement_id');
      if (id === '') throw new EngineFailure('away', 'The warehouse answered without the id of its statement.');
      await services.clock.wait(pollMs, limits.signal);
      answer = await ask({ method: 'GET', url: path + encodeURIComponent(id), headers }, limits);
    }
  }

  return oneByOne(runOne);
}

function credentialsOf(
  { token, client_id, client_secret }: Settings,
  base: string,
  services: DestinationServices,
): Authorizer {
  if (token !== undefined) {
    return bearerCredentials(services.clock, async () => ({ kind: 'ok', token, expiresAt: Number.POSITIVE_INFINITY }));
  }
  return services.authorizer({
    type: 'oauth2',
    grant: 'client_credentials',
    token_url: `${base}/oidc/v1/token`,
    client_id: client_id ?? '',
    client_secret: client_secret ?? '',
    client_auth: 'basic',
    scopes: ['all-apis'],
    params: {},
  });
}

function rowsIn(result: unknown): Row[] {
  const columns = at(result, 'manifest', 'schema', 'columns');
  const names = Array.isArray(columns) ? columns.map((column) => textAt(column, 'name')) : [];
  return namedRows(names, at(result, 'result', 'data_array'));
}

function failureOf(result: unknown, state: string): EngineFailure {
  const message = textAt(result, 'status', 'error', 'message');
  const sqlState = textAt(result, 'status', 'error', 'sql_state');
  const [, condition = ''] = /^\s*\[([A-Z0-9_.]+)\]/.exec(message) ?? [];
  const said = `Databricks ${condition || sqlState || state}: ${foreignText(message.replace(/^\s*\[[^\]]*\]/, ''), ownWord)}.`;
  if (/^DELTA_CONCURRENT|^DELTA_.*CONFLICT/.test(condition) || sqlState === '2D521') {
    return new EngineFailure('busy', `Another writer was faster: ${said}`, 2_000);
  }
  if (
    /_NOT_FOUND$|^UNRESOLVED_COLUMN|^DELTA_MERGE_UNRESOLVED|^NO_SUCH/.test(condition) ||
    /^(?:42P01|42703|42704)$/.test(sqlState)
  ) {
    return new EngineFailure('missing', said);
  }
  if (/PERMISSION|PRIVILEGE/.test(condition) || sqlState === '42501')
    return new EngineFailure('denied', `A right is missing: ${said}`);
  if (
    /^22/.test(sqlState) ||
    /^(?:CAST_|CANNOT_PARSE|NUMERIC_|MALFORMED_RECORD|DELTA_VIOLATE|DELTA_NOT_NULL)/.test(condition)
  ) {
    return new EngineFailure('refused', `The warehouse refused the rows: ${said}`);
  }
  // It was stopped, by a person or for its time.
  if (state !== 'FAILED') return new EngineFailure('busy', said, 10_000);
  return new EngineFailure('other', said);
}

function explain({ status, text }: Answer): EngineFailure | undefined {
  const body = parsed(text);
  const code = textAt(body, 'error_code');
  const said = `Databricks answered ${status} (${/^[A-Z_]{1,60}$/.test(code) ? code : 'no code'}): ${foreignText(textAt(body, 'message'), ownWord)}.`;
  if (status === 403) return new EngineFailure('denied', `The warehouse refuses the login or a right: ${said}`);
  if (status === 404) return new EngineFailure('missing', `The SQL warehouse or the statement does not exist: ${said}`);
  return status === 400 ? new EngineFailure('other', said) : undefined;
}
