import type { Authorizer } from '../../../outbound/auth/outgoing.ts';
import type { DestinationServices } from '../../destination.ts';
import { type Codes, type Connection, type Row, type Said, type Statement, textRow } from '../../warehouse/dialect.ts';
import { type Answer, asking, at, oneByOne, parsed } from '../../warehouse/http.ts';
import { placeOf } from '../../warehouse/place.ts';
import type { Settings } from './settings.ts';

export function clickhouseConnection(settings: Settings, services: DestinationServices): Connection {
  const { user, password, database } = placeOf(settings.url);
  const base = settings.endpoint ?? new URL(settings.url).origin;
  const login: Authorizer = {
    authorize: async (request) => ({
      kind: 'ok',
      request: { ...request, headers: { ...request.headers, 'x-clickhouse-user': user, 'x-clickhouse-key': password } },
    }),
    refused: async () => false,
  };
  const ask = asking(services, login, codes, saidBy);

  async function runOne({ sql, values = {} }: Statement, limits: Parameters<Connection['run']>[1]): Promise<Row[]> {
    const { body, ...parameters } = values;
    const query = new URLSearchParams({
      // An error comes as a status, not inside an answer that began well.
      wait_end_of_query: '1',
      date_time_input_format: 'best_effort',
      input_format_null_as_default: '1',
      session_timezone: 'UTC',
    });
    const isSchema = sql.startsWith('CREATE DATABASE');
    if (isSchema) query.set('param_database', database);
    else query.set('database', database);
    // Rows are the body, and the statement is then a parameter.
    if (body !== undefined) query.set('query', sql);
    else if (sql.startsWith('SELECT')) query.set('default_format', 'JSON');
    for (const [name, value] of Object.entries(parameters)) query.set(`param_${name}`, escaped(value));
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    const answer = await ask(
      { method: 'POST', url: `${base.replace(/\/$/, '')}/?${query}`, headers, body: body ?? sql },
      limits,
    );
    const data = at(parsed(answer.text), 'data');
    return Array.isArray(data) ? data.map(textRow) : [];
  }

  return oneByOne(runOne);
}

/** A parameter is read as a field of TSV, in which a null is \N. */
const escapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }),
);
const escaped = (value: string | null): string =>
  value === null ? '\\N' : value.replace(/[\\\t\n\r]/g, (character) => escapes.get(character) ?? character);

const codes: Codes = [
  [/^(?:60|81|16|47|10|36) /, 'missing'],
  [/^(?:516|497|192|193|194) /, 'denied'],
  [/^(?:6|26|27|38|41|53|69|72|117|131|321|349|407|467|469) /, 'refused'],
  [/^(?:252|202|241|242|285|319|439|999) /, 'busy'],
  [/^[1-9]\d* [1-4]/, 'other'],
];

function saidBy({ status, text, headers }: Answer): Said {
  const code = headers['x-clickhouse-exception-code'] ?? /^Code: (\d+)/.exec(text)?.[1] ?? '0';
  const [, name = status] = /\(([A-Z][A-Z_]+)\)/.exec(text) ?? [];
  const message = text.replace(/^Code: \d+\. DB::Exception: /, '');
  return { code: `${code} ${status}`, name: `ClickHouse ${name} (${code})`, message };
}
