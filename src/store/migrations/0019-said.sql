-- What each source said of a reservation, so that the silence of one takes back nothing that another said.
alter table records add column said json, add column pulled_hash bytea;
comment on column records.said is 'What each source (pull, single, push) says, with its times, before business rules; a source whose view is the record itself has only its time and the fields it said to be empty. Null: pull said all of it.';
comment on column records.pulled_hash is 'Hash of the pulled row, as a record of its own, that the record is in line with: the same row again changes nothing. Null: the hash of the record. Empty: none.';
