-- additive
alter table watermarks add column feed bigint;
comment on column watermarks.feed is 'A hash of the address and the brand that the run read. Null if the run was of an earlier release.';
