alter table reservations add column epoch int not null default 1;
alter table guest_profiles add column epoch int not null default 1;
comment on column reservations.epoch is 'Outranks the version. Rises when the store of Innbound was restored from an older backup, after which versions repeat.';
comment on column guest_profiles.epoch is 'Outranks the version, as in reservations.';
