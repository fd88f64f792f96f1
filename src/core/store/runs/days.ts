/**
 * The nights of a run: of its request, or as fixed at its start. A list by modification time tells of all nights from its first change on,
 * as events do.
 */
export const daysOfRun = `case when position ? 'since' then daterange(to_timestamp((position ->> 'since')::float8 / 1000)::date, null)
  else daterange(coalesce(from_date, (position ->> 'from')::date), coalesce(to_date, (position ->> 'to')::date), '[]') end`;
