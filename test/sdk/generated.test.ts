import { expect, test } from 'vitest';
import { typesFrom } from '../../sdk/generate.ts';
import { startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
const { address } = await startApi({ pool });

test('the types are those of the document that the service serves (if not: npm run sdk:types)', async () => {
  const document = await (await fetch(`${address}/openapi.json`)).json();
  await expect(typesFrom(document as never)).toMatchFileSnapshot('../../sdk/src/openapi.ts');
});
