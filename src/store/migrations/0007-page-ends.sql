-- Where a list ends is told by its pages alone; nothing about earlier ones is kept.
alter table partner_states drop column uncut_rows, drop column uncut_at;
comment on table partner_states is 'What a partner told us that outlives a run: not before retry_at (429), credentials refused.';
