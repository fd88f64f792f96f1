-- additive
-- A node with 100,000 brands reads one edit without comparing all documents. One row per document that changed, so the table stays
-- small. Kept by a trigger, because nodes of the previous version also change documents.
create sequence document_positions;

create table document_changes (
  kind     text not null,
  name     text not null,
  position bigint not null,
  primary key (kind, name)
);
create index document_changes_position on document_changes (position);
comment on table document_changes is 'When each document last came into force or was removed, in the order of the changes. Documents that did not change since this table exists have no row.';

create function note_document_change() returns trigger language plpgsql set search_path from current as $$
begin
  insert into document_changes as c (kind, name, position)
  values (coalesce(new.kind, old.kind), coalesce(new.name, old.name), nextval('document_positions'))
  on conflict (kind, name) do update set position = excluded.position;
  return null;
end $$;

create trigger note_document_change after insert or update or delete on current_documents
  for each row execute function note_document_change();
