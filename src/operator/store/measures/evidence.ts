import { changed, type Pool } from '../../../core/store/db/pool.ts';

/** Brands that are counted in one statement. */
const atOnce = 50;

/**
 * Counts what the health of brands rests on: the stored bookings, and those with an e-mail address. Brands whose changes have moved since,
 * those that were never counted first. Returns how many were counted.
 */
export const countEvidence = (db: Pool): Promise<number> =>
  changed(db)(
    `with due as materialized (
       select integration, changes from activity
        where step = 'ever' and (quality ->> 'changes')::bigint is distinct from changes
        order by quality is not null limit ${atOnce}
     ), counted as (
       select d.integration, d.changes, c.* from due d cross join lateral (
         select count(*) as bookings, count(*) filter (where data::text ~ '"email": ?"') as with_email from records r
          where r.integration = d.integration and r.type = 'reservation' and r.version > 0 and r.event <> 'removed') c
     )
     update activity a
        set quality = jsonb_build_object('changes', c.changes, 'bookings', c.bookings, 'with_email', c.with_email)
       from counted c where a.integration = c.integration and a.step = 'ever'`,
    [],
  );
