/**
 * Extensions whose objects are not ours to compare. Only an administrator can make these or add to them. The owner of a database can
 * make others, such as hstore, and hide a function or a view of his own among their members.
 */
const known = ['citus', 'citus_columnar'];

/** SQL: whether the row `of` of a catalog does not belong to one of them. */
export const notOfExtension = (of: string, catalog: 'pg_class' | 'pg_proc') =>
  `NOT EXISTS (SELECT FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
                WHERE d.classid = '${catalog}'::regclass AND d.objid = ${of}.oid AND d.deptype = 'e'
                  AND e.extname IN (${known.map(name => `'${name}'`).join(', ')}))`;
