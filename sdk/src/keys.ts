/** Stores the idempotency keys of orders, so that a restarted process retries with the same key. */
export interface KeyStore {
  get(externalId: string): string | null | undefined | Promise<string | null | undefined>;
  /** The payment is sent only after this has stored the key. */
  set(externalId: string, key: string): void | Promise<void>;
}

/** Enough for recent orders; for more, use a store. */
const maxRemembered = 10_000;

export type Keys = ReturnType<typeof createKeys>;

/**
 * One key per order, also when the program calls `create` again: calling twice never pays twice. A client forgets the
 * key when the payment has failed. Keys survive restarts only in a store, where they stay.
 */
export function createKeys(store: KeyStore | undefined) {
  const open = new Map<string, Promise<string>>();

  const remember = (externalId: string, key: Promise<string>) => {
    open.delete(externalId);
    open.set(externalId, key);
    if (open.size > maxRemembered) open.delete(open.keys().next().value!);
    // A key that could not be read or stored is read again next time.
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
    /** The key to send for this order. */
    take: async (externalId: string | null | undefined, given: string | undefined): Promise<string> => {
      if (externalId === null || externalId === undefined) return given ?? crypto.randomUUID();
      if (given !== undefined) return remember(externalId, keep(externalId, given));
      return open.get(externalId) ?? remember(externalId, find(externalId));
    },
    /** The payment of this order has failed: the next one is a new payment with a new key. */
    failed: (externalId: string | null | undefined): void => {
      if (externalId !== null && externalId !== undefined) open.delete(externalId);
    },
  };
}
