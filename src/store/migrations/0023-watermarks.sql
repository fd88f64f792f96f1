create table watermarks (
  integration text not null,
  sync        text not null,
  at          timestamptz not null,
  primary key (integration, sync)
);
comment on table watermarks is 'For lists by modification time: when the last complete run of each sync began. Only a complete run moves it.';
