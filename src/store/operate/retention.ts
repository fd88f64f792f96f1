import { dropPartitions, makePartitions } from '../db/partitions.ts';
import type { Pool } from '../db/pool.ts';
import { pruneActivity } from './activity.ts';
import { pruneLinks } from './onboarding.ts';
import { pruneOneTime } from './one-time.ts';
import { pruneTokens } from './tokens.ts';

export interface Retention {
  readonly rawMs: number;
  readonly deadLettersMs: number;
  readonly runsMs: number;
  readonly auditMs: number;
  /** Of the history, which makes up the timeline. */
  readonly historyMs: number;
}

const batch = 2_000;

/**
 * Deletes what is past its retention: the history by whole partitions, the rest in small batches, so that no statement holds locks for
 * long. Undelivered work, open dead letters and the newest state of each record are never deleted.
 */
export async function pruneStore(
  db: Pool,
  kept: Retention,
  pause: () => Promise<void> = async () => {},
): Promise<{ [what: string]: number }> {
  const inBatches = async (sql: string, ms: number): Promise<number> => {
    let total = 0;
    for (;;) {
      const { rowCount } = await db.query(sql, [ms, batch]);
      total += rowCount ?? 0;
      if ((rowCount ?? 0) < batch) return total;
      await pause();
    }
  };
  const past = `now() - $1 * interval '1 ms'`;
  const day = 86_400_000;
  await makePartitions(db);
  const forgotten = {
    history_partitions: await dropPartitions(db, kept.historyMs),
    attempts: await inBatches(
      `delete from attempts where ctid = any(array(select ctid from attempts where at < ${past} limit $2))`,
      kept.deadLettersMs,
    ),
    raw_payloads: await inBatches(
      `update history r set raw = null from (
         select integration, id, type, entry_id from history where raw is not null and at < ${past} order by at limit $2) old
        where r.integration = old.integration and r.id = old.id and r.type = old.type and r.entry_id = old.entry_id`,
      kept.rawMs,
    ),
    // Parts of payloads. With a wrong mapping they may be names.
    unknown_values: await inBatches(
      `delete from drift where ctid = any(array(select ctid from drift where last_at < ${past} limit $2))`,
      kept.rawMs,
    ),
    partner_texts: await inBatches(
      `update runs r set partner_text = null from (
         select integration, run_id from runs where partner_text is not null and finished_at < ${past} limit $2) old
        where r.integration = old.integration and r.run_id = old.run_id`,
      kept.rawMs,
    ),
    dead_letters: await inBatches(
      `delete from dead_letters d using (
         select integration, dead_letter_id from dead_letters where state <> 'open' and closed_at < ${past} limit $2) old
        where d.integration = old.integration and d.dead_letter_id = old.dead_letter_id`,
      kept.deadLettersMs,
    ),
    sightings: await inBatches(
      `delete from sightings where ctid = any(array(select ctid from sightings where requested_at < ${past} limit $2))`,
      7 * day,
    ),
    run_pages: await inBatches(
      `delete from run_pages where ctid = any(array(
         select p.ctid from runs r join run_pages p using (integration, run_id)
          where r.finished_at < ${past} and r.queued_at < ${past} limit $2))`,
      kept.runsMs,
    ),
    runs: await inBatches(
      `delete from runs r using (
         select integration, run_id from runs where queued_at < ${past} and finished_at < ${past} limit $2) old
        where r.integration = old.integration and r.run_id = old.run_id`,
      kept.runsMs,
    ),
    audit: await inBatches(
      `delete from audit where audit_id in (select audit_id from audit where at < ${past} order by at limit $2)`,
      kept.auditMs,
    ),
    alerts: await inBatches(
      `delete from alerts where alert_id in (select alert_id from alerts where resolved_at < ${past} limit $2)`,
      90 * day,
    ),
    incidents: await inBatches(
      `delete from incidents where incident_id in (select incident_id from incidents where ended_at < ${past} limit $2)`,
      90 * day,
    ),
    quality: await inBatches(
      `delete from quality where ctid = any(array(select ctid from quality where day < (${past})::date limit $2))`,
      400 * day,
    ),
    // As long as the history reaches back, they would be taken from it again.
    stays: await inBatches(
      `delete from stays where ctid = any(array(select ctid from stays where coalesce(until_at, from_at) < ${past} limit $2))`,
      kept.historyMs + 400 * day,
    ),
    jobs: await inBatches(
      `delete from jobs where job_id in (select job_id from jobs where finished_at < ${past} limit $2)`,
      kept.runsMs,
    ),
    tokens: await pruneTokens(db),
    one_time: await pruneOneTime(db),
    onboarding_links: await pruneLinks(db),
  };
  await pruneActivity(db);
  return forgotten;
}
