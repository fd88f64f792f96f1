create table destination_pace (
  destination  text primary key,
  paused_until timestamptz,
  -- Theoretical arrival time of the generic cell rate algorithm: one row write per group of calls, shared by all nodes.
  next_at      timestamptz
);
comment on table destination_pace is 'When a destination may be sent to: a silence it asked for, and its rate, held over all nodes.';

create index dead_letters_listed on dead_letters (integration, state, dead_letter_id);
create index dead_letters_by_time on dead_letters (closed_at) where state <> 'open';
-- Rows come in the order of time: a few pages of summaries serve the upkeep, and cost the tries nothing.
create index attempts_by_time on attempts using brin (at);
create index dead_letters_by_id on dead_letters (dead_letter_id);
