alter table guests add column title text;
comment on column guests.title is 'The title that stood before a last name without given names. It tells a couple with one address apart.';
alter table guest_profiles add column title text;
comment on column guest_profiles.title is 'The title that stood before a last name without given names. It tells a couple with one address apart.';
