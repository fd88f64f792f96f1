alter table nodes add column clock_ahead_ms bigint;
comment on column nodes.clock_ahead_ms is 'How far the node''s clock is ahead of the database''s, as of its last heartbeat; negative when it is behind.';
