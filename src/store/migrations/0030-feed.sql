create index changes_by_receipt on changes (receipt_id);
comment on index changes_by_receipt is 'The order of the feed. A record is locked while its receipt gets a number, so the numbers rise with its versions.';

alter table tokens drop constraint tokens_role_check;
alter table tokens add constraint tokens_role_check check (role in ('feed', 'viewer', 'operator', 'admin'));
