-- Removals of secrets have a way of their own, past whatever else waits to be said.
CREATE INDEX chat_jobs_deletes_due ON chat_jobs (due_at, id) WHERE task->>'do' = 'delete';
CREATE INDEX chat_jobs_messages_due ON chat_jobs (due_at, id) WHERE task->>'do' <> 'delete';
DROP INDEX chat_jobs_due;
