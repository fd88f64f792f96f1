import { z } from 'zod';
import {
  listRuns,
  type RowOutcome,
  runDetail,
  runIntegration,
  runPartnerText,
  runRows,
} from '../../../core/store/runs/list.ts';
import { counts, instant } from '../../store/answers.ts';
import { itemsOf } from '../forms.ts';
import { beforeOf, paged, pageOf, pageQuery } from '../paging.ts';
import { type Node, notFound, ok, okIfFound, operator, type Route, viewer } from '../route.ts';

const outcomes = [
  'changed',
  'unchanged',
  'superseded',
  'skipped',
  'dropped',
  'dead',
  'held',
] as const satisfies readonly RowOutcome[];
const count = z.int();
const runSummary = z.object({
  run_id: z.string(),
  integration: z.string(),
  sync: z.enum(['pre_stay', 'stay', 'post_stay', 'backfill']),
  kind: z.enum(['scheduled', 'manual', 'backfill']),
  status: z.enum(['queued', 'running', 'complete', 'incomplete', 'failed']),
  waiting: z.string().nullable().describe('What a running run is waiting for.'),
  from: z.string().nullable(),
  to: z.string().nullable(),
  requested_by: z.string(),
  queued_at: instant,
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
  node: z.string().nullable(),
  ...counts(
    'pages',
    'requests',
    'retries',
    'waited_ms',
    'bytes',
    'rows',
    'fetched',
    'changed',
    'unchanged',
    'superseded',
    'dropped',
    'skipped',
  ),
  repeated: count.describe('Rows with the same id as a later row of their page; the later row was used.'),
  dead_lettered: count,
  held: count.describe('Rows that were held back, in part or whole, as an accident of the partner.'),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  has_partner_text: z.boolean().describe('The partner said something about the error; runs.partner_text shows it.'),
});
export const exchange = z
  .object({
    method: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string().optional(),
    status: z.int().optional().describe('Absent without an answer.'),
    duration_ms: z.number().optional(),
    failure: z.string().optional().describe('Why there was no answer.'),
    answer: z.string().optional().describe('The beginning of the answer, without its values.'),
  })
  .describe('A request as it was sent, without credentials.');
const wholeRun = runSummary.extend({
  connector_version: count.nullable(),
  integration_version: count.nullable(),
  findings: z.array(z.looseObject({ code: z.string(), message: z.string() })),
  last_request: exchange.nullable(),
  windows: z.array(
    z.object({
      from: z.string(),
      to: z.string(),
      ...counts('passes', 'pages', 'requests', 'waited_ms', 'rows', 'fresh', 'changed', 'bytes', 'longest_ms'),
      asked_at: instant,
    }),
  ),
});

export function runRoutes({ runtime: { pool } }: Node): Route[] {
  const scope = ({ run_id = '' }: Record<string, string>) => runIntegration(pool, run_id);
  return [
    viewer('GET /runs', {
      id: 'runs.list',
      summary: 'Runs, newest first',
      scope: 'any',
      query: z.strictObject({
        ...pageQuery,
        integration: z.string().optional(),
        sync: runSummary.shape.sync.optional(),
        status: runSummary.shape.status.optional(),
      }),
      response: pageOf(runSummary),
      handle: async ({ query, within }) => {
        const { limit, sync, status } = query;
        const rows = await listRuns(pool, {
          sync,
          status,
          integrations: within,
          before: beforeOf(query.cursor),
          limit: limit + 1,
        });
        return ok(paged(rows, limit, (row) => [row.queued_at.toISOString(), row.run_id]));
      },
    }),
    viewer('GET /runs/{run_id}', {
      id: 'runs.get',
      summary: 'One run: requests, waits, findings and changes',
      scope,
      response: wholeRun,
      handle: async ({ params: { run_id } }) => okIfFound(await runDetail(pool, run_id), `run ${run_id}`),
    }),
    viewer('GET /runs/{run_id}/rows', {
      id: 'runs.rows',
      summary: 'The rows of a run that became the same: changed, unchanged, skipped, dropped, …',
      description: 'Of skipped rows, up to 100 of each page are kept.',
      scope,
      query: z.strictObject({
        outcome: z.enum(outcomes),
        limit: z.coerce.number().int().min(1).max(1000).default(200),
      }),
      response: itemsOf({
        integration: z.string(),
        id: z.string().nullable(),
        version: count.nullable(),
        reason: z.string().nullable(),
        dead_letter_id: z.string().nullable(),
      }),
      handle: async ({ params, query, within }) => {
        const run = await runDetail(pool, params.run_id);
        if (run === undefined) return notFound(`run ${params.run_id}`);
        const items = await runRows(pool, run, query.outcome, query.limit);
        // A run may serve several brands of an account.
        return ok({ items: items.filter(({ integration }) => within === undefined || within.includes(integration)) });
      },
    }),
    operator('GET /runs/{run_id}/partner-text', {
      id: 'runs.partner_text',
      summary: 'What the partner said about the error that ended a run; it may quote guest data',
      scope,
      payload: true,
      response: z.object({ run_id: z.string(), partner_text: z.string() }),
      handle: async ({ params }) => {
        const text = await runPartnerText(pool, params.run_id);
        return text === undefined
          ? notFound(`partner text of run ${params.run_id}`)
          : ok({ run_id: params.run_id, partner_text: text });
      },
    }),
  ];
}
