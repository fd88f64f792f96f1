-- Versions before this one kept credentials that were typed into documents as plain text, also in versions that are no longer in force.
-- The service moves them to the sealed secrets when it starts, and marks each version that it has been through.
alter table documents add column sealed boolean not null default false;
create index documents_unsealed on documents (kind, name, version) where not sealed;
