import { describe, expect, test } from 'vitest';
import { readCases } from '../helpers/cases.ts';
import { kopeck } from '../helpers/cli.ts';
import { createRolesWorld } from './roles-world.ts';

const { ask, envFor, examined } = await createRolesWorld();

describe('rights that kopeck migrate did not give', () => {
  const privileges = () => examined('pay_run', 'privileges');

  test.each([
    ['pay_run has DELETE on entries', 'GRANT DELETE ON entries TO pay_run'],
    ['pay_run has UPDATE (actor) on audit', 'GRANT UPDATE (actor) ON audit TO pay_run'],
    ['pay_read has SELECT on api_keys', 'GRANT SELECT ON api_keys TO pay_read'],
    ['pay_run has SELECT on audit with grant option', 'GRANT SELECT ON audit TO pay_run WITH GRANT OPTION'],
    ['PUBLIC has INSERT on audit', 'GRANT INSERT ON audit TO PUBLIC'],
    ['pay_read has CREATE on public', 'GRANT CREATE ON SCHEMA public TO pay_read'],
    ['PUBLIC has TEMPORARY on pay', 'GRANT TEMPORARY ON DATABASE pay TO PUBLIC'],
    ['pay_read has UPDATE on audit_id_seq', 'GRANT UPDATE ON SEQUENCE audit_id_seq TO pay_read'],
    ['pay_read has EXECUTE on prune_test_data', 'GRANT EXECUTE ON FUNCTION prune_test_data TO pay_read'],
    ['pay_read lacks SELECT on payments', 'REVOKE SELECT ON payments FROM pay_read'],
  ])('are found, and taken back: %s', async (found, statement) => {
    await ask('pay_owner', statement);
    expect(await privileges()).toMatch(`bad: ${found}: run bin/kopeck migrate as the owner`);
    expect((await kopeck(envFor('pay_owner'), 'migrate')).code).toBe(0);
    expect(await privileges()).toMatch(/^ok: /);
  });

  const ofOthers = readCases(`
a third role
  + GRANT DELETE ON audit TO pay_other
  - REVOKE ALL ON audit FROM pay_other
  = pay_other has DELETE on audit
membership
  + GRANT pg_write_all_data TO pay_run
  - REVOKE pg_write_all_data FROM pay_run
  = pay_run is a member of pg_write_all_data
an attribute
  + ALTER ROLE pay_run CREATEROLE
  - ALTER ROLE pay_run NOCREATEROLE
  = pay_run has the attribute CREATEROLE
a schema
  + CREATE SCHEMA mine AUTHORIZATION pay_run
  - DROP SCHEMA mine
  = pay_run owns schema mine
a view elsewhere
  + CREATE SCHEMA side; CREATE VIEW side.queue AS SELECT * FROM public.audit_unchained; GRANT DELETE ON side.queue TO pay_run
  - DROP SCHEMA side CASCADE
  = pay_run has DELETE on side.queue
a column of a view elsewhere
  + CREATE SCHEMA side; CREATE VIEW side.chain AS SELECT * FROM public.audit_chain; GRANT UPDATE (hash) ON side.chain TO PUBLIC
  - DROP SCHEMA side CASCADE
  = PUBLIC has UPDATE (hash) on side.chain
a view of an extension
  + CREATE VIEW peek AS SELECT * FROM api_keys; GRANT SELECT ON peek TO PUBLIC; ALTER EXTENSION plpgsql ADD VIEW peek
  - ALTER EXTENSION plpgsql DROP VIEW peek; DROP VIEW peek
  = PUBLIC has SELECT on peek`);

  test.each(ofOthers)(
    'are found, for the administrator to take back: %s',
    async (_what, change, undo, found) => {
      await ask('kopeck', change);
      expect(await privileges()).toMatch(`bad: ${found}: run bin/kopeck migrate as the owner`);
      await ask('kopeck', undo);
      expect(await privileges()).toMatch(/^ok: /);
    },
  );

  test('a function with the rights of the owner that somebody left behind is given to no role', async () => {
    const shell = "CREATE FUNCTION shell() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'DELETE FROM audit'";
    await ask('pay_owner', shell);
    expect(await privileges()).toMatch('bad: PUBLIC has EXECUTE on shell: run bin/kopeck migrate');
    expect((await kopeck(envFor('pay_owner'), 'migrate')).code).toBe(0);
    expect(await privileges()).toMatch(/^ok: /);
    expect(await examined('pay_run', 'schema')).toMatch('bad: foreign function shell');
    for (const role of ['pay_run', 'pay_read'])
      await expect(ask(role, 'SELECT shell()')).rejects.toMatchObject({ code: '42501' });
    await ask('pay_owner', 'DROP FUNCTION shell');
  });
});
