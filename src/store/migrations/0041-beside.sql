-- A migration whose file says "additive" leaves every statement of the version before it working, so that its workers may go on until
-- they are replaced. Others end them.
alter table migrations add column additive boolean not null default false;
