alter table guests add column extra jsonb;
comment on column guests.extra is 'Further fields of the guest that the connector maps, such as a loyalty number.';
alter table guest_profiles add column extra jsonb;
comment on column guest_profiles.extra is 'Further fields of the guest that the connector maps, such as a loyalty number.';
