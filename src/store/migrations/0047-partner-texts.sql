-- additive
-- Retention looks for texts of partners every ten minutes. Few runs have one, and without an index it reads all runs of 90 days.
-- Building the index reads all runs once; with ten million it takes some seconds, during which no run begins or ends.
create index runs_partner_text on runs (finished_at) where partner_text is not null;
