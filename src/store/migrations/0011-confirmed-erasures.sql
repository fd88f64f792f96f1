alter table erasures add column confirmed_at timestamptz;
comment on column erasures.confirmed_at is 'When the last destination had confirmed it; the receipt says it of each. Kept here, since the tries themselves are forgotten in time.';
create index receipts_of_erasures on receipts (cause_id) where cause = 'erasure';
