import { bearerCredentials } from '../../../outbound/auth/assertion.ts';
import type { Authorizer } from '../../../outbound/auth/outgoing.ts';
import type { DestinationServices } from '../../destination.ts';
import { type Codes, type Connection, EngineFailure, failureBy, type Said } from '../../warehouse/dialect.ts';
import { type Answer, asking, handleIn, jsonStatements, parsed, textAt } from '../../warehouse/http.ts';
import type { Settings } from './settings.ts';

export function databricksConnection(settings: Settings, services: DestinationServices): Connection {
  const { warehouse_id, catalog, schema } = settings;
  const base = (settings.endpoint ?? `https://${settings.host}`).replace(/\/$/, '');
  const url = `${base}/api/2.0/sql/statements/`;
  return jsonStatements({
    ask: asking(services, credentialsOf(settings, base, services), codes, saidBy),
    clock: services.clock,
    headers: {},
    url: () => url,
    body: ({ sql, values = {} }) => ({
      statement: sql,
      warehouse_id,
      catalog,
      // The schema may have to be created first.
      ...(!sql.startsWith('CREATE SCHEMA') && !sql.includes('information_schema') && { schema }),
      ...(Object.keys(values).length > 0 && {
        parameters: Object.entries(values).map(([name, value]) => ({ name, value, type: 'STRING' })),
      }),
      wait_timeout: '30s',
      on_wait_timeout: 'CONTINUE',
      disposition: 'INLINE',
      format: 'JSON_ARRAY',
    }),
    again(answer) {
      const state = textAt(answer, 'status', 'state');
      if (state === 'SUCCEEDED') return undefined;
      // A statement that failed is a 200.
      if (/^(?:FAILED|CANCELED|CLOSED)$/.test(state)) throw failureOf(answer, state);
      return url + handleIn(answer, 'statement_id');
    },
    columns: ['manifest', 'schema', 'columns'],
    rows: ['result', 'data_array'],
  });
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

const codes: Codes = [
  [/^403 /, 'denied'],
  [/^404 /, 'missing'],
  [/^400 /, 'other'],
  // A statement that failed.
  [/ DELTA_CONCURRENT| DELTA_\S*CONFLICT| 2D521$/, 'busy', 2_000],
  [/_NOT_FOUND | (?:UNRESOLVED_COLUMN|DELTA_MERGE_UNRESOLVED|NO_SUCH)| (?:42P01|42703|42704)$/, 'missing'],
  [/ \S*(?:PERMISSION|PRIVILEGE)| 42501$/, 'denied'],
  [/ (?:CAST_|CANNOT_PARSE|NUMERIC_|MALFORMED_RECORD|DELTA_VIOLATE|DELTA_NOT_NULL)| 22\w{3}$/, 'refused'],
  [/^FAILED /, 'other'],
  // It was stopped, by a person or for its time.
  [/^(?:CANCELED|CLOSED) /, 'busy', 10_000],
];

function failureOf(answer: unknown, state: string): EngineFailure {
  const text = textAt(answer, 'status', 'error', 'message');
  const sqlState = textAt(answer, 'status', 'error', 'sql_state');
  const [, condition = ''] = /^\s*\[([A-Z0-9_.]+)\]/.exec(text) ?? [];
  const name = `Databricks ${condition || sqlState || state}`;
  const said = { code: `${state} ${condition} ${sqlState}`, name, message: text.replace(/^\s*\[[^\]]*\]/, '') };
  return failureBy(codes, said) ?? new EngineFailure('other', name);
}

function saidBy({ status, text }: Answer): Said {
  const body = parsed(text);
  const code = textAt(body, 'error_code');
  const shown = /^[A-Z_]{1,60}$/.test(code) ? ` ${code}` : '';
  return { code: `${status} `, name: `Databricks ${status}${shown}`, message: textAt(body, 'message') };
}
