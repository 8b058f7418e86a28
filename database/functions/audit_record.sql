-- The text of a record of the audit log that is hashed: the same on every server. docs/operations/audit.md describes it.
CREATE OR REPLACE FUNCTION audit_record(a audit) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('id', a.id, 'at', to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                            'actor', a.actor, 'action', a.action, 'subject', a.subject, 'before', a.before, 'after', a.after)::text
$$;
