-- Alerts look for failed runs among all brands, not for the last run of each of 100,000 brands.
create index runs_failed on runs (queued_at) where state in ('incomplete', 'failed');
