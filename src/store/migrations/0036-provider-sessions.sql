-- Who a session of an identity provider belongs to: issuer and subject, which no provider gives to another person later.
alter table tokens add column subject text;
create index tokens_by_subject on tokens (subject) where subject is not null;
