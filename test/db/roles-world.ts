import pg from 'pg';
import { expect } from 'vitest';
import { afterFile } from '../helpers/after-file.ts';
import { examined, kopeck } from '../helpers/cli.ts';
import { createExternalServer } from '../helpers/external-postgres.ts';
import { newFolder } from '../helpers/folders.ts';
import { secretKey } from '../helpers/partners.ts';

/** A server with the roles of the production guide, a migrated database `pay`, and an empty one. */
export async function createRolesWorld() {
  const server = await createExternalServer('newest');
  afterFile(async () => {
    await server.stop('SIGINT');
    server.remove();
  });

  const urlFor = (role: string, database = 'pay') =>
    server.url.replace('kopeck@', `${role}@`).replace('/postgres?', `/${database}?`);

  async function ask<Row extends pg.QueryResultRow>(role: string, text: string, values: unknown[] = []) {
    const client = new pg.Client({ connectionString: urlFor(role) });
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  const envFor = (role: string) => ({
    ...{ DATABASE_URL: urlFor(role), SECRET_KEY: secretKey, DATA_DIR: newFolder() },
  });

  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  for (const role of ['pay_owner', 'pay_run', 'pay_read', 'pay_other'])
    await admin.query(`CREATE ROLE ${role} LOGIN NOSUPERUSER`);
  for (const name of ['pay', 'untouched']) await admin.query(`CREATE DATABASE ${name} OWNER pay_owner`);
  await admin.end();
  const migrated = await kopeck(
    envFor('pay_owner'),
    ...['migrate', '--run-role', 'pay_run', '--read-role', 'pay_read', '--json'],
  );
  expect(migrated).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(migrated.stdout).roles).toEqual({ run: ['pay_run'], read: ['pay_read'] });
  return { ask, envFor, examined: (role: string, check: string) => examined(envFor(role), check), urlFor };
}
