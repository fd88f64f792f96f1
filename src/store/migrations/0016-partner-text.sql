-- The partner's own words about a failed run may quote guest data: they are payload, apart from our message.
alter table runs add column partner_text text;
update runs set partner_text = error_message, error_message = split_part(error_message, ': ', 1)
 where error_code like 'pull.%' and error_message like '%: %';
comment on column runs.partner_text is 'What the partner said about the error that ended the run. Read through the audited view only; emptied with raw payloads and by erasure.';
