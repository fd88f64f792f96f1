create table profile_pins (
  integration text not null,
  key         text not null,
  profile_id  text not null,
  merged_from text,
  primary key (integration, key)
);
create index profile_pins_of_profile on profile_pins (integration, profile_id);
comment on table profile_pins is 'Keys that an operator gave to a profile, by merging two profiles or splitting one. merged_from is the profile that a merge took the key from. An erasure removes the keys of the person.';
