alter table receipts
  drop constraint receipts_cause_check,
  add constraint receipts_cause_check check (cause in ('run', 'event', 'replay', 'guest', 'erasure', 'reprocess'));
