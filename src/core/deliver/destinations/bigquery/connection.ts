import { googleCredentials } from '../../../outbound/auth/assertion.ts';
import type { DestinationServices } from '../../destination.ts';
import type { Codes, Connection, Said } from '../../warehouse/dialect.ts';
import { type Answer, asking, at, handleIn, jsonStatements, parsed, textAt } from '../../warehouse/http.ts';
import type { Settings } from './settings.ts';

const scope = 'https://www.googleapis.com/auth/bigquery';
/** How long the server waits before it says that the job still runs. */
const waitMs = 20_000;

export function bigqueryConnection(settings: Settings, services: DestinationServices): Connection {
  const { project, dataset, location, endpoint = 'https://bigquery.googleapis.com', maximum_bytes_billed } = settings;
  const ask = asking(services, googleCredentials(services, settings.credentials, scope), codes, saidBy);
  const base = `${endpoint.replace(/\/$/, '')}/bigquery/v2/projects/${encodeURIComponent(project)}/queries`;
  return jsonStatements({
    ask,
    clock: services.clock,
    headers: {},
    url: () => base,
    body: ({ sql, values = {} }) => ({
      query: sql,
      useLegacySql: false,
      location,
      defaultDataset: { projectId: project, datasetId: dataset },
      ...(Object.keys(values).length > 0 && {
        parameterMode: 'NAMED',
        queryParameters: Object.entries(values).map(([name, value]) => ({
          name,
          parameterType: { type: 'STRING' },
          parameterValue: { value },
        })),
      }),
      timeoutMs: waitMs,
      labels: { innbound: 'load' },
      ...(maximum_bytes_billed !== undefined && { maximumBytesBilled: String(maximum_bytes_billed) }),
    }),
    again(answer) {
      if (at(answer, 'jobComplete') === true) return undefined;
      const place = textAt(answer, 'jobReference', 'location') || location;
      const parts = new URLSearchParams({ location: place, timeoutMs: String(waitMs) });
      return `${base}/${handleIn(answer, 'jobReference', 'jobId')}?${parts}`;
    },
    columns: ['schema', 'fields'],
    rows: ['rows'],
  });
}

const codes: Codes = [
  [/concurrent update|serialize access/i, 'busy'],
  // Casts that fail are reported as a query that is wrong.
  [
    /^invalidQuery (?:(?:Bad|Invalid|Could not cast|Failed to parse|Error parsing)|.*(?:overflow|out of range))/i,
    'refused',
  ],
  [/^(?:invalid|resourcesExceeded|responseTooLarge) /, 'refused'],
  [/^(?:invalidQuery|notFound) /, 'missing'],
  [/^accessDenied /, 'denied'],
  [/^billingNotEnabled /, 'denied', undefined, 'switch billing on for the project'],
  [/^(?:job)?rateLimitExceeded /i, 'busy'],
  [/^quotaExceeded /, 'busy', 600_000, 'wait for the quota of the project, or raise it'],
  [/^bytesBilledLimitExceeded /, 'busy', 600_000, 'raise maximum_bytes_billed'],
];

function saidBy({ status, text }: Answer): Said {
  const body = parsed(text);
  const reason = textAt(body, 'error', 'errors', 0, 'reason');
  const message = textAt(body, 'error', 'message');
  const shown = /^[A-Za-z]{1,40}$/.test(reason) ? ` ${reason}` : '';
  return { code: `${reason} ${message}`, name: `BigQuery ${status}${shown}`, message };
}
