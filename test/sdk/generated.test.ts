import { expect, test } from 'vitest';
import { typesFrom } from '../../sdk/generate.ts';
import { serveDocument } from '../api/openapi-world.ts';

test('the types are those of the document that the service serves (if not: npm run sdk:types)', async () => {
  await expect(typesFrom(await serveDocument())).toMatchFileSnapshot('../../sdk/src/openapi.ts');
});
