-- additive
alter table alerts add column brands text[];
comment on column alerts.brands is 'All brands of an alert that many brands share; its detail names only some. Null for other alerts.';
