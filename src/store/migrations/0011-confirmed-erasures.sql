alter table erasures add column confirmed_at timestamptz;
update erasures set confirmed_at = completed_at where jsonb_array_length(receipt -> 'told') = 0;
comment on column erasures.confirmed_at is 'When the last destination had confirmed it; the receipt says it of each. Kept here, since the tries themselves are forgotten in time.';
create index receipts_of_erasures on receipts (cause_id) where cause = 'erasure';
