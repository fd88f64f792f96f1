import type { Json } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';

export type JobOperation = 'replay' | 'resend' | 'reprocess' | 'check_profiles';

export interface JobRow {
  readonly job_id: string;
  readonly operation: JobOperation;
  /** The brands that it concerns; null for all. */
  readonly integrations: readonly string[] | null;
  readonly request: Json;
  readonly requested_by: string;
  readonly requested_at: Date;
  readonly state: 'queued' | 'running' | 'done' | 'stopped' | 'failed';
  /** How many records it was expected to process when it started. */
  readonly total: number;
  readonly done: number;
  readonly counts: { readonly [outcome: string]: number };
  readonly finished_at: Date | null;
  readonly stopped_by: string | null;
  readonly code: string | null;
  readonly message: string | null;
}

const columns = `job_id, operation, integrations, request, requested_by, requested_at, state, total, done, counts, finished_at,
  stopped_by, code, message`;

export type NewJob = Pick<JobRow, 'job_id' | 'operation' | 'integrations' | 'request' | 'requested_by' | 'total'>;

/** Jobs that one person may have queued or running. */
export const mostOpenJobs = 10;

/** Undefined if this person has too many open jobs. */
export async function insertJob(db: Pool, job: NewJob): Promise<JobRow | undefined> {
  const { rows } = await db.query<JobRow>(
    `insert into jobs (job_id, operation, integrations, request, requested_by, total) 
     select $1, $2, $3, $4, $5, $6
      where (select count(*) from jobs where requested_by = $5 and state in ('queued', 'running')) < ${mostOpenJobs}
     returning ${columns}`,
    [job.job_id, job.operation, job.integrations, JSON.stringify(job.request), job.requested_by, job.total],
  );
  return rows[0];
}

/** Newest first. A caller that is limited to some brands sees the jobs that concern only those. */
export async function listJobs(
  db: Pool,
  filter: {
    readonly within: readonly string[] | undefined;
    readonly before: string | undefined;
    readonly limit: number;
  },
): Promise<JobRow[]> {
  const { rows } = await db.query<JobRow>(
    `select ${columns} from jobs
      where ($1::text[] is null or integrations <@ $1) and ($2::text is null or job_id < $2) order by job_id desc limit $3`,
    [filter.within ?? null, filter.before ?? null, filter.limit],
  );
  return rows;
}

export async function readJob(
  db: Pool,
  jobId: string,
  within: readonly string[] | undefined,
): Promise<JobRow | undefined> {
  const { rows } = await db.query<JobRow>(
    `select ${columns} from jobs where job_id = $1 and ($2::text[] is null or integrations <@ $2)`,
    [jobId, within ?? null],
  );
  return rows[0];
}

/** The step in progress finishes and no other follows. Nothing is undone. */
export async function stopJob(db: Pool, jobId: string, by: string): Promise<void> {
  await db.query(
    `update jobs set state = 'stopped', stopped_by = $2, finished_at = now()
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

/** The person who has waited longest for a step is next, with the job that has: neither a long job nor many jobs delay the others. */
export async function claimJob(db: Pool, leaseMs: number): Promise<ClaimedJob | undefined> {
  const { rows } = await db.query<ClaimedJob>(
    `update jobs set state = 'running', stepped_at = now(), leased_until = now() + $1 * interval '1 ms', fence = fence + 1
      where job_id = (select job_id from jobs
                       where state in ('queued', 'running') and (leased_until is null or leased_until < now())
                       order by (select max(own.stepped_at) from jobs own
                                  where own.requested_by = jobs.requested_by and own.state in ('queued', 'running')) nulls first,
                                stepped_at nulls first, job_id limit 1 for update skip locked)
     returning ${columns}, position, fence, halvings`,
    [leaseMs],
  );
  return rows[0];
}

/** A step that is in progress holds its job, however long it takes. */
export async function renewJob(db: Pool, { job_id, fence }: ClaimedJob, leaseMs: number): Promise<void> {
  await db.query(
    `update jobs set leased_until = now() + $3 * interval '1 ms' where job_id = $1 and fence = $2 and leased_until is not null`,
    [job_id, fence, leaseMs],
  );
}

/** A step this quick may be twice as large the next time. */
const quick = `interval '5 seconds'`;

/** Stores the result of a step. Without a position the job is done. */
export async function advanceJob(
  db: Pool,
  { job_id, fence }: ClaimedJob,
  step: {
    readonly done: number;
    readonly counts: { readonly [outcome: string]: number };
    readonly position: Json | undefined;
  },
): Promise<void> {
  await db.query(
    `update jobs set done = done + $3, counts = $4, position = $5, leased_until = null, failures = 0, code = null, message = null,
            halvings = case when now() - stepped_at < ${quick} then greatest(halvings - 1, 0) else halvings end,
            state = case when state = 'running' and $5::jsonb is null then 'done' else state end,
            finished_at = case when state = 'running' and $5::jsonb is null then now() else finished_at end
      where job_id = $1 and fence = $2`,
    [
      job_id,
      fence,
      step.done,
      JSON.stringify(step.counts),
      step.position === undefined ? null : JSON.stringify(step.position),
    ],
  );
}

/**
 * After a step that took too long: the next attempt waits for the end of the lease and has half the size. After `most` halvings the job
 * fails.
 */
export async function halveJob(
  db: Pool,
  { job_id, fence }: ClaimedJob,
  failure: { readonly code: string; readonly message: string; readonly most: number; readonly last: string },
): Promise<void> {
  await db.query(
    `update jobs set halvings = halvings + 1, code = $3, message = case when halvings + 1 >= $5 then $6 else $4 end,
            state = case when halvings + 1 >= $5 then 'failed' else state end,
            finished_at = case when halvings + 1 >= $5 then now() else finished_at end
      where job_id = $1 and fence = $2 and state = 'running'`,
    [job_id, fence, failure.code, failure.message, failure.most, failure.last],
  );
}

/**
 * After a failed step: the next attempt waits for the end of the lease. After `most` of them the job fails; undefined for a failure that
 * does not count.
 */
export async function noteJobFailure(
  db: Pool,
  { job_id, fence }: ClaimedJob,
  failure: { readonly code: string; readonly message: string; readonly most: number | undefined },
): Promise<void> {
  await db.query(
    `update jobs set failures = failures + case when $5::int is null then 0 else 1 end, code = $3, message = $4,
            state = case when failures + 1 >= $5 then 'failed' else state end,
            finished_at = case when failures + 1 >= $5 then now() else finished_at end
      where job_id = $1 and fence = $2 and state = 'running'`,
    [job_id, fence, failure.code, failure.message, failure.most ?? null],
  );
}
