import { createPartnerWithKeys, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';

/** The API with one partner and its keys. */
export async function startHttpWorld() {
  const { pool } = await createDatabase();
  await setRate(pool);
  const { address, deps } = await startApi({ pool });
  const { partnerId, testKey, liveKey } = await createPartnerWithKeys(pool);
  const partner = partnerAt(address, testKey);
  const authorization = `Bearer ${testKey}`;
  const countPayments = async () => {
    const { rows } = await pool.query('SELECT count(*)::int AS n FROM payments');
    return rows[0].n;
  };
  return { pool, address, deps, partnerId, testKey, liveKey, partner, authorization, countPayments };
}
