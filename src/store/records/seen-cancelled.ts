/**
 * SQL: when the record `r`, which is cancelled, was seen to be cancelled. A later change of it is not another cancellation; where its
 * history is gone or begins with the cancellation, it is the first day.
 */
export const seenCancelledAt = `case when r.event in ('cancelled', 'created') then r.changed_at else coalesce(
  (select max(h.at) from history h where h.integration = r.integration and h.id = r.id and h.type = r.type and h.outcome = 'cancelled'),
  r.created_at) end`;
