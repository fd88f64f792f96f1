alter table destination_pace add column told_to_wait text;
comment on column destination_pace.told_to_wait is
  'The record that was told to wait (429) since the destination last took anything. A second one means that the destination is busy.';
