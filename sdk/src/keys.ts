/** Where the idempotency keys of orders are kept, so that a restarted process repeats with the same one. */
export interface KeyStore {
  get(externalId: string): string | null | undefined | Promise<string | null | undefined>;
  /** Has been kept when it is done: the payment is sent only then. */
  set(externalId: string, key: string): void | Promise<void>;
}

/** Enough for the orders of a while; the rest belongs into a store. */
const mostRemembered = 10_000;

export interface Keys {
  /** The key to send for this order. */
  take(externalId: string | null | undefined, given: string | undefined): Promise<string>;
  /** The payment of this order has failed for good: the next one is another payment, with a key of its own. */
  failed(externalId: string | null | undefined): void;
}

/**
 * One key per order, even if the program calls again by itself: nothing is paid twice because somebody asked twice. A
 * client forgets it when the payment has failed; across restarts it is known only with a store, where it stays.
 */
export function createKeys(store: KeyStore | undefined): Keys {
  const open = new Map<string, Promise<string>>();

  const remember = (externalId: string, key: Promise<string>) => {
    open.delete(externalId);
    open.set(externalId, key);
    if (open.size > mostRemembered) open.delete(open.keys().next().value!);
    // What could not be read or kept is asked for again next time.
    key.catch(() => open.get(externalId) === key && open.delete(externalId));
    return key;
  };

  async function find(externalId: string): Promise<string> {
    const known = await store?.get(externalId);
    return known ?? keep(externalId, crypto.randomUUID());
  }

  async function keep(externalId: string, key: string): Promise<string> {
    await store?.set(externalId, key);
    return key;
  }

  return {
    take: async (externalId, given) => {
      if (externalId === null || externalId === undefined) return given ?? crypto.randomUUID();
      if (given !== undefined) return remember(externalId, keep(externalId, given));
      return open.get(externalId) ?? remember(externalId, find(externalId));
    },
    failed: externalId => {
      if (externalId !== null && externalId !== undefined) open.delete(externalId);
    },
  };
}
