import ipaddr from 'ipaddr.js';
import { createBoundedCache } from '../base/bounded-cache.ts';
import { type Clock, instantOf } from '../base/clock.ts';
import { createBatcher, whileOthersJoin } from '../db/batching/index.ts';
import { isItemError, type Queryable } from '../db/postgres/index.ts';
import { pruneOlder } from '../db/retention/index.ts';

/** For one key. A partner whose address changes all the time is not notified without limit. */
const maxAddresses = 200;
const maxRemembered = 20_000;

/** Providers give a machine a whole network of 64 bits of IPv6. Undefined for text that is no address. */
function networkOf(address: string): string | undefined {
  const [bare = ''] = address.split('%');
  if (!ipaddr.isValid(bare)) return undefined;
  const parsed = ipaddr.process(bare);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = (parsed as ipaddr.IPv6).parts.slice(0, 4).map(part => part.toString(16));
  return `${ipaddr.parse(`${network.join(':')}::`)}/64`;
}

/** Records uses of keys: those of requests that come together in one statement. */
export const createRecorder = <Use>(write: (uses: Use[]) => Promise<unknown>) =>
  createBatcher<Use, true>({
    isItemError,
    maxBatch: 256,
    maxWaiting: 5_000,
    gather: whileOthersJoin,
    run: async uses => {
      await write(uses);
      return uses.map(() => true as const);
    },
  });

/**
 * Remembers from where keys are used, and writes a notice for a new address. The first address of a key is not news. A process
 * asks the database once for each key and address. A use that cannot be recorded is not refused: the next one is.
 */
export function createAddressRecorder(db: Queryable, clock: Clock) {
  const seen = createBoundedCache<true>(maxRemembered);
  const record = createRecorder<{ keyId: string; address: string }>(uses =>
    db.query({
      name: 'note key addresses',
      // The statement sees the addresses from before it: a key without any has its first one.
      text: `WITH added AS (
                 INSERT INTO key_addresses (key_id, address, first_used_at)
                   SELECT DISTINCT u.key_id, u.address, $3::timestamptz
                     FROM unnest($1::text[], $2::text[]) AS u (key_id, address)
                    WHERE (SELECT count(*) FROM key_addresses a WHERE a.key_id = u.key_id) < ${maxAddresses}
                    ORDER BY 1, 2
                   ON CONFLICT DO NOTHING RETURNING key_id, address)
               INSERT INTO partner_notices (partner_id, kind, details, at)
                 SELECT k.partner_id, 'key_new_address',
                        jsonb_build_object('key_id', k.id, 'mode', k.mode, 'address', n.address), $3
                   FROM added n JOIN api_keys k ON k.id = n.key_id
                  WHERE EXISTS (SELECT FROM key_addresses a WHERE a.key_id = n.key_id)`,
      values: [uses.map(({ keyId }) => keyId), uses.map(({ address }) => address), instantOf(clock)],
    }),
  );
  return async (keyId: string, from: string): Promise<void> => {
    // Almost every request is from an address as it was seen before: nothing is parsed for it.
    if (seen.get(`${keyId} ${from}`)) return;
    const address = networkOf(from);
    try {
      if (address !== undefined && !seen.get(`${keyId} ${address}`)) await record({ keyId, address });
      seen.set(`${keyId} ${from}`, true);
      seen.set(`${keyId} ${address}`, true);
    } catch {}
  };
}

/** Addresses of keys that ended a month ago. */
export const pruneKeyAddresses = (db: Queryable, clock: Clock) =>
  pruneOlder(db, clock, {
    table: 'key_addresses',
    since: '(SELECT least(k.revoked_at, k.expires_at) FROM api_keys k WHERE k.id = t.key_id)',
    keptDays: 30,
  });
