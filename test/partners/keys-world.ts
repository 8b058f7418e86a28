import { afterAll } from 'vitest';
import { openPool } from '../../src/db/postgres/pool.ts';
import { createAuthenticator, createKey, createPartner, type WantedKey } from '../../src/partners/index.ts';
import { createTimedDatabase, keyring } from '../helpers/database.ts';

/** A database, a clock that the tests move, and processes that keys are presented to. */
export async function createKeysWorld() {
  const { pool, url, clock, audit } = await createTimedDatabase();
  const authenticator = createAuthenticator(pool, clock, keyring);
  afterAll(authenticator.close);
  return {
    ...{ pool, url, clock, audit },
    authenticate: (key: string, address = '192.0.2.1') => authenticator.authenticate({ key, address }),
    /** A key of a new partner, unless one is wanted. */
    issue: async (more: Partial<WantedKey> = {}) => {
      const partnerId = more.partnerId ?? (await createPartner(audit, 'Shop')).partnerId;
      const wanted: WantedKey = { partnerId, mode: 'test', allowedAddresses: [], ...more };
      const creation = await createKey(audit, keyring, wanted);
      if (creation.outcome !== 'created') throw new Error(creation.outcome);
      return { partnerId, key: creation.key, keyId: creation.apiKey.keyId };
    },
    startProcess: (ownKeyring = keyring) => {
      const own = openPool({ ...pool.options }, 2);
      const other = createAuthenticator(own, clock, ownKeyring);
      return {
        use: (key: string, address = '192.0.2.1') => other.authenticate({ key, address }),
        end: async () => {
          await other.close();
          await own.end();
        },
      };
    },
  };
}
