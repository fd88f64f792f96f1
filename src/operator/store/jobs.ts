import { z } from 'zod';
import { type Pool, rowOf, rowsOf } from '../../core/store/db/pool.ts';
import { changeHeld, claimDue, type Held, type LeasedTable } from '../../core/store/lease.ts';
import type { Json } from '../../terms.ts';
import { anyJson, instant, type Row } from './answers.ts';

export const jobSchema = z.object({
  job_id: z.string(),
  operation: z.enum(['replay', 'resend', 'reprocess', 'audit']),
  integrations: z.array(z.string()).nullable().describe('The brands that it concerns; null for all.'),
  request: anyJson,
  requested_by: z.string(),
  requested_at: instant,
  state: z.enum(['queued', 'running', 'done', 'stopped', 'failed']),
  total: z.int().describe('How many records it was expected to process when it started.'),
  done: z.int().describe('How many of them it has processed.'),
  counts: z.record(z.string(), z.int()).describe('Their outcomes.'),
  refusals: z
    .array(z.object({ id: z.string(), reason: z.string() }))
    .describe('The first records that it did not process, and why.'),
  finished_at: instant.nullable(),
  stopped_by: z.string().nullable(),
  code: z.string().nullable(),
  message: z.string().nullable(),
});
export type JobRow = Row<typeof jobSchema>;

const columns = Object.keys(jobSchema.shape).join(', ');

/** Jobs that one person may have queued or running. */
export const mostOpenJobs = 10;

/** Undefined if this person has too many open jobs. */
export const insertJob = (
  db: Pool,
  job: Pick<JobRow, 'job_id' | 'operation' | 'integrations' | 'request' | 'requested_by' | 'total'>,
): Promise<JobRow | undefined> =>
  rowOf(db)(
    `insert into jobs (job_id, operation, integrations, request, requested_by, total) 
     select $1, $2, $3, $4, $5, $6
      where (select count(*) from jobs where requested_by = $5 and state in ('queued', 'running')) < ${mostOpenJobs}
     returning ${columns}`,
    [job.job_id, job.operation, job.integrations, JSON.stringify(job.request), job.requested_by, job.total],
  );

/** Newest first. A caller that is limited to some brands sees the jobs that concern only those. */
export const listJobs = (
  db: Pool,
  filter: {
    readonly within: readonly string[] | undefined;
    readonly before: string | undefined;
    readonly limit: number;
  },
): Promise<JobRow[]> =>
  rowsOf(db)(
    `select ${columns} from jobs
      where ($1::text[] is null or integrations <@ $1) and ($2::text is null or job_id < $2) order by job_id desc limit $3`,
    [filter.within, filter.before, filter.limit],
  );

export const readJob = (db: Pool, jobId: string, within: readonly string[] | undefined): Promise<JobRow | undefined> =>
  rowOf(db)(`select ${columns} from jobs where job_id = $1 and ($2::text[] is null or integrations <@ $2)`, [
    jobId,
    within,
  ]);

/** The step in progress finishes and no other follows. Nothing is undone. */
export async function stopJob(db: Pool, jobId: string, by: string): Promise<void> {
  await db.query(
    `update jobs set state = 'stopped', stopped_by = $2, finished_at = now(), due_at = null
      where job_id = $1 and state in ('queued', 'running')`,
    [jobId, by],
  );
}

export interface ClaimedJob extends JobRow {
  readonly position: Json;
  readonly fence: number;
  /** How often its steps were halved because one took too long. */
  readonly halvings: number;
}

const jobTable: LeasedTable = { name: 'jobs', key: ['job_id'] };
const heldJob = ({ job_id, fence }: ClaimedJob): Held => [job_id, fence];

const byPerson = `(select max(own.stepped_at) from jobs own where own.requested_by = jobs.requested_by and own.due_at is not null) nulls first,
  due_at, job_id`;

/** The person who has waited longest for a step is next, with the job that has: neither a long job nor many jobs delay the others. */
export async function claimJob(db: Pool, leaseMs: number): Promise<ClaimedJob | undefined> {
  const returning = `${columns}, position, fence, halvings`.replace(/\w+/g, 't.$&');
  return rowOf(db)<ClaimedJob>(
    `with ${claimDue(jobTable, { set: `state = 'running', stepped_at = now()`, returning, order: byPerson })} select * from claimed`,
    [1, leaseMs],
  );
}

/** A step that is in progress holds its job, however long it takes. */
export async function renewJob(db: Pool, job: ClaimedJob, leaseMs: number): Promise<void> {
  // A job that was stopped stays so.
  const set = `due_at = case when due_at is not null then now() + $3 * interval '1 ms' end`;
  await changeHeld(db, jobTable, heldJob(job), set, [leaseMs]);
}

/** A step this quick may be twice as large the next time. */
const quick = `interval '5 seconds'`;

/** Then a job keeps no more refusals. */
const mostRefusals = 200;

/** What a step did. */
export interface JobStep extends Pick<JobRow, 'done' | 'counts'>, Partial<Pick<JobRow, 'refusals'>> {
  /** Where the next step continues; undefined when nothing is left. */
  readonly position: Json | undefined;
}

/** Stores the result of a step, with the counts of all steps. */
export async function advanceJob(db: Pool, job: ClaimedJob, step: JobStep): Promise<void> {
  const isLast = `state = 'running' and $5::jsonb is null`;
  await changeHeld(
    db,
    jobTable,
    heldJob(job),
    // A renewal that is still on its way must not hold the next step.
    `fence = fence + 1, done = done + $3, counts = $4, position = $5, failures = 0,
     refusals = case when jsonb_array_length(refusals) < ${mostRefusals} then refusals || $6::jsonb else refusals end, code = null, message = null,
     halvings = case when now() - stepped_at < ${quick} then greatest(halvings - 1, 0) else halvings end,
     due_at = case when state = 'running' and $5::jsonb is not null then now() end,
     state = case when ${isLast} then 'done' else state end,
     finished_at = case when ${isLast} then now() else finished_at end`,
    [
      step.done,
      JSON.stringify(step.counts),
      step.position === undefined ? null : JSON.stringify(step.position),
      JSON.stringify(step.refusals ?? []),
    ],
  );
}

const runningJob: LeasedTable = { ...jobTable, held: `state = 'running'` };

/**
 * After a failed step, or one that took too long: the next attempt waits for the end of the lease, and after a halving has half the size.
 * After `most` of them the job fails; undefined for a failure that does not count.
 */
export async function noteJobFailure(
  db: Pool,
  job: ClaimedJob,
  counter: 'failures' | 'halvings',
  { code, message, most }: { readonly code: string; readonly message: string; readonly most: number | undefined },
): Promise<void> {
  const isLast = `${counter} + 1 >= $5`;
  const set = `${counter} = ${counter} + case when $5::int is null then 0 else 1 end, code = $3, message = $4,
               state = case when ${isLast} then 'failed' else state end,
               finished_at = case when ${isLast} then now() else finished_at end,
               due_at = case when ${isLast} then null else due_at end`;
  await changeHeld(db, runningJob, heldJob(job), set, [code, message, most]);
}
