-- False: there were more differences than a run keeps. Then it ends no alarm, and the next run starts where it did.
ALTER TABLE reconciliations ADD COLUMN is_complete boolean NOT NULL DEFAULT true;
