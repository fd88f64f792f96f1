import { dropPartitions, makePartitions } from '../../core/store/db/partitions.ts';
import { changed, type Pool } from '../../core/store/db/pool.ts';

interface Retention {
  readonly rawMs: number;
  readonly deadLettersMs: number;
  readonly runsMs: number;
  readonly auditMs: number;
  /** Of the history, which makes up the timeline. */
  readonly historyMs: number;
}

const batch = 2_000;
const hour = 3_600_000;
const day = 24 * hour;

/**
 * Deletes what is past its retention: the history by whole partitions, the rest in small batches, so that no statement holds locks for
 * long. Undelivered work, open dead letters and the newest state of each record are never deleted.
 */
export async function pruneStore(
  db: Pool,
  { rawMs, deadLettersMs, runsMs, auditMs, historyMs }: Retention,
  pause: () => Promise<void> = async () => {},
): Promise<{ [what: string]: number }> {
  const inBatches = async (sql: string, ms: number): Promise<number> => {
    let total = 0;
    for (;;) {
      const count = await changed(db)(sql, [ms, batch]);
      total += count;
      if (count < batch) return total;
      await pause();
    }
  };
  const past = `now() - $1 * interval '1 ms'`;
  const remove = (table: string, where: string, ms: number) =>
    inBatches(`delete from ${table} where ctid = any(array(select ctid from ${table} where ${where} limit $2))`, ms);
  await makePartitions(db);
  const forgotten = {
    history_partitions: await dropPartitions(db, historyMs),
    attempts: await remove('attempts', `at < ${past}`, deadLettersMs),
    raw_payloads: await inBatches(
      `update history r set raw = null from (
         select integration, id, type, entry_id from history where raw is not null and at < ${past} order by at limit $2) old
        where r.integration = old.integration and r.id = old.id and r.type = old.type and r.entry_id = old.entry_id`,
      rawMs,
    ),
    // Parts of payloads. With a wrong mapping they may be names.
    unknown_values: await remove('drift', `last_at < ${past}`, rawMs),
    partner_texts: await inBatches(
      `update runs r set partner_text = null from (
         select integration, run_id from runs where partner_text is not null and finished_at < ${past} limit $2) old
        where r.integration = old.integration and r.run_id = old.run_id`,
      rawMs,
    ),
    dead_letters: await remove('dead_letters', `state <> 'open' and closed_at < ${past}`, deadLettersMs),
    sightings: await remove('sightings', `requested_at < ${past}`, 7 * day),
    run_pages: await inBatches(
      `delete from run_pages where ctid = any(array(
         select p.ctid from runs r join run_pages p using (integration, run_id)
          where r.finished_at < ${past} and r.queued_at < ${past} limit $2))`,
      runsMs,
    ),
    runs: await remove('runs', `queued_at < ${past} and finished_at < ${past}`, runsMs),
    audit: await remove('audit', `at < ${past}`, auditMs),
    alerts: await remove('alerts', `resolved_at < ${past}`, 90 * day),
    quality: await remove('activity', `step = '1d' and at < ${past}`, 400 * day),
    // As long as the history reaches back, they would be taken from it again.
    stays: await remove('stays', `coalesce(until_at, from_at) < ${past}`, historyMs + 400 * day),
    jobs: await remove('jobs', `finished_at < ${past}`, runsMs),
    // Until then the audit log can refer to them.
    tokens: await remove('tokens', `coalesce(revoked_at, expires_at) < ${past}`, 90 * day),
    // None counts for so long.
    consents: await remove('secrets', `name like 'innbound.consent %' and updated_at < ${past}`, day),
    uses: await remove('marks', `name like 'used %' and at < ${past}`, day),
    onboarding_links: await remove('onboarding_links', `least(revoked_at, expires_at) < ${past}`, 90 * day),
  };
  await remove('activity', `step = '10s' and at < ${past}`, 3 * hour);
  await remove('activity', `step = '1h' and at < ${past}`, 60 * day);
  return forgotten;
}
