/** Where the idempotency keys of orders are kept, so that a restarted process repeats with the same one. */
export interface KeyStore {
  get(externalId: string): string | null | undefined | Promise<string | null | undefined>;
  /** Has been kept when it is done: the payment is sent only then. */
  set(externalId: string, key: string): void | Promise<void>;
}

/** Enough for what is under way; the rest belongs into a store. */
const mostRemembered = 10_000;

export interface Keys {
  /** The key to send for this order. */
  take(externalId: string | null | undefined, given: string | undefined): Promise<string>;
  /** The outcome of the order is known. */
  done(externalId: string | null | undefined): void;
}

/**
 * One key per payment. While nobody knows what became of an order, its next try gets the same key, even if the program
 * calls again by itself; across restarts it does with a store. A key once given to an order in a store stays with it.
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
    done: externalId => {
      if (externalId !== null && externalId !== undefined) open.delete(externalId);
    },
  };
}
