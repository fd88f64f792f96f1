-- additive
-- Activity is counted every ten seconds, from the runs that ended in them, not from all runs of two days.
create index runs_finished on runs (finished_at) where fetched > 0;
