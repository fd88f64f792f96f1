import { foreignText } from '../../../kit/foreign-text.ts';
import { googleCredentials } from '../../../outbound/auth/assertion.ts';
import type { DestinationServices } from '../../destination.ts';
import { type Connection, EngineFailure, type Row, type Statement } from '../../warehouse/dialect.ts';
import { type Answer, asking, at, namedRows, oneByOne, parsed, textAt } from '../../warehouse/http.ts';
import { ownWord } from '../../warehouse/words.ts';
import type { Settings } from './settings.ts';

const scope = 'https://www.googleapis.com/auth/bigquery';
/** How long the server waits before it says that the job still runs. */
const waitMs = 20_000;

export function bigqueryConnection(settings: Settings, services: DestinationServices): Connection {
  const { project, dataset, location, endpoint = 'https://bigquery.googleapis.com', maximum_bytes_billed } = settings;
  const ask = asking(services, googleCredentials(services, settings.credentials, scope), explain);
  const base = `${endpoint.replace(/\/$/, '')}/bigquery/v2/projects/${encodeURIComponent(project)}/queries`;
  const headers = { 'content-type': 'application/json', accept: 'application/json' };

  async function runOne({ sql, values = {} }: Statement, limits: Parameters<Connection['run']>[1]): Promise<Row[]> {
    const parameters = Object.entries(values).map(([name, value]) => ({
      name,
      parameterType: { type: 'STRING' },
      parameterValue: { value },
    }));
    const query = {
      query: sql,
      useLegacySql: false,
      location,
      defaultDataset: { projectId: project, datasetId: dataset },
      ...(parameters.length > 0 && { parameterMode: 'NAMED', queryParameters: parameters }),
      timeoutMs: waitMs,
      labels: { innbound: 'load' },
      ...(maximum_bytes_billed !== undefined && { maximumBytesBilled: String(maximum_bytes_billed) }),
    };
    let answer = await ask({ method: 'POST', url: base, headers, body: JSON.stringify(query) }, limits);
    for (;;) {
      const body = parsed(answer.text);
      if (at(body, 'jobComplete') === true) return rowsIn(body);
      const job = textAt(body, 'jobReference', 'jobId');
      if (job === '') throw new EngineFailure('away', 'The warehouse answered without the id of its job.');
      const place = textAt(body, 'jobReference', 'location') || location;
      const parts = new URLSearchParams({ location: place, timeoutMs: String(waitMs) });
      answer = await ask(
        { method: 'GET', url: `${base}/${encodeURIComponent(job)}?${parts}`, headers: { accept: 'application/json' } },
        limits,
      );
    }
  }

  return oneByOne(runOne);
}

function rowsIn(body: unknown): Row[] {
  const fields = at(body, 'schema', 'fields');
  const names = Array.isArray(fields) ? fields.map((field) => textAt(field, 'name')) : [];
  const rows = at(body, 'rows');
  const lists = Array.isArray(rows) ? rows.map((row) => (at(row, 'f') as { v: unknown }[]).map(({ v }) => v)) : [];
  return namedRows(names, lists);
}

/** The vendor's reason. Its message may quote a value: only known words are shown. */
function explain({ status, text, headers }: Answer): EngineFailure | undefined {
  const body = parsed(text);
  const reason = textAt(body, 'error', 'errors', 0, 'reason');
  const message = textAt(body, 'error', 'message');
  const said = `BigQuery answered ${status} (${/^[A-Za-z]{1,40}$/.test(reason) ? reason : 'no reason'}): ${foreignText(message, ownWord)}.`;
  if (/concurrent update|serialize access/i.test(message))
    return new EngineFailure('busy', `Another writer was faster: ${said}`, 5_000);
  switch (reason) {
    case 'invalidQuery':
      // Casts that fail are reported as a query that is wrong.
      if (/^(?:Bad|Invalid|Could not cast|Failed to parse|Error parsing)|overflow|out of range/i.test(message)) break;
      return new EngineFailure('missing', said);
    case 'notFound':
      return new EngineFailure('missing', said);
    case 'accessDenied':
      return new EngineFailure('denied', `A right is missing: ${said}`);
    case 'billingNotEnabled':
      return new EngineFailure('denied', `Billing is off for the project: ${said}`);
    case 'rateLimitExceeded':
    case 'jobRateLimitExceeded':
      return new EngineFailure('busy', said, retryAfter(headers) ?? 5_000);
    case 'quotaExceeded':
      return new EngineFailure('busy', `A quota of the project is used up: ${said}`, 600_000);
    case 'bytesBilledLimitExceeded':
      return new EngineFailure(
        'busy',
        `The statement would read more than maximum_bytes_billed; raise it: ${said}`,
        600_000,
      );
    case 'invalid':
    case 'resourcesExceeded':
    case 'responseTooLarge':
      break;
    default:
      return undefined;
  }
  return new EngineFailure('refused', `The warehouse refused the rows: ${said}`);
}

const retryAfter = (headers: Answer['headers']): number | undefined => {
  const seconds = Number(headers['retry-after']);
  return seconds > 0 ? seconds * 1_000 : undefined;
};
