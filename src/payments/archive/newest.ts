/**
 * SQL: the newest payments, live and archived, that a condition on `p` holds for, each once. Each place is read with a condition and a
 * limit of its own: on Citus a condition outside of the union would bring all rows of the archive here. A payment that moves meanwhile
 * may be read in both.
 */
export const newestAnywhere = (condition: string, limit: number | string) => {
  const newestIn = (table: string) =>
    `(SELECT p.* FROM ${table} p WHERE ${condition} ORDER BY p.id DESC LIMIT ${limit})`;
  return `SELECT DISTINCT ON (u.id) u.* FROM (${newestIn('payments')} UNION ALL ${newestIn('payments_archive')}) AS u ORDER BY u.id DESC`;
};
