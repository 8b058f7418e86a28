-- TRUNCATE has a trigger of its own. Engines that spread tables over machines pass on triggers of rows and statements, but not
-- one that is also for TRUNCATE: an UPDATE would go through in silence.
CREATE OR REPLACE TRIGGER entries_are_append_only BEFORE UPDATE ON entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_are_not_truncated BEFORE TRUNCATE ON entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_are_append_only;
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_are_not_truncated;

CREATE OR REPLACE TRIGGER events_are_append_only BEFORE UPDATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_are_not_truncated BEFORE TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE events ENABLE ALWAYS TRIGGER events_are_append_only;
ALTER TABLE events ENABLE ALWAYS TRIGGER events_are_not_truncated;

CREATE OR REPLACE TRIGGER test_checkpoints_stay BEFORE DELETE ON test_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER test_checkpoints_are_not_truncated BEFORE TRUNCATE ON test_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE test_checkpoints ENABLE ALWAYS TRIGGER test_checkpoints_stay;
ALTER TABLE test_checkpoints ENABLE ALWAYS TRIGGER test_checkpoints_are_not_truncated;

CREATE OR REPLACE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_is_not_truncated BEFORE TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_is_append_only;
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_is_not_truncated;

CREATE OR REPLACE TRIGGER audit_chain_is_append_only BEFORE UPDATE OR DELETE ON audit_chain
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_chain_is_not_truncated BEFORE TRUNCATE ON audit_chain
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE audit_chain ENABLE ALWAYS TRIGGER audit_chain_is_append_only;
ALTER TABLE audit_chain ENABLE ALWAYS TRIGGER audit_chain_is_not_truncated;

CREATE OR REPLACE TRIGGER rates_are_append_only BEFORE UPDATE OR DELETE ON rates
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER rates_are_not_truncated BEFORE TRUNCATE ON rates
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE OR REPLACE TRIGGER rate_rules_are_append_only BEFORE UPDATE OR DELETE ON rate_rules
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER rate_rules_are_not_truncated BEFORE TRUNCATE ON rate_rules
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
