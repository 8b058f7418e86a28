import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Id } from '../base/ids.ts';
import { blockRecipient } from '../controls/index.ts';
import { topUp } from '../ledger/index.ts';
import {
  createKey,
  createPartner,
  listPartners,
  type Partner,
  revokeKey,
  setLimits,
  setSuspended,
  signUp,
} from '../partners/index.ts';
import { createVault, setWebhook } from '../webhooks/index.ts';
import type { CommandContext } from './command.ts';

/** A partner of the demonstration that pays, with a key for this run. */
export interface Shop {
  partnerId: Id<'prt'>;
  key: string;
  keyId: string;
}

/** Plainly invented; by this beginning they are known again. */
export const demonstration = 'Demonstration ';
const paying = ['bakery', 'tea house', 'book shop', 'flower shop', 'bicycle repair'];
const suspended = 'lottery';
const newcomer = 'newcomer';
export const blockedRecipient = 'Demonstration swindler';

/** Enough for ten thousand payments, shared among five. */
const balanceMicroUsdt = 60_000_000_000n;
const busy = { concurrent: 100, createRps: 1_000, createBurst: 1_000, otherRps: 1_000 };
/** Of nobody: Telegram gives no such numbers. */
const nobody = { userId: 1n, name: 'Demonstration person' };

export async function openShops(context: CommandContext, receivers: Receivers, run: string): Promise<Shop[]> {
  const { audit, secretKey } = context;
  const known = new Map((await listPartners(audit.pool)).map(partner => [partner.name, partner]));
  const find = async (name: string): Promise<Partner> =>
    known.get(demonstration + name) ?? createPartner(audit, demonstration + name);

  await setSuspended(audit, (await find(suspended)).partnerId, true);
  if (!known.has(demonstration + newcomer)) await signUp(audit, nobody, demonstration + newcomer);
  await blockRecipient(audit, blockedRecipient);

  const shops: Shop[] = [];
  for (const [index, name] of paying.entries()) {
    const { partnerId } = await find(name);
    await setLimits(audit, partnerId, busy);
    await topUp(audit, { partnerId, mode: 'live', reference: run, microUsdt: balanceMicroUsdt });
    // The last one's receiver refuses everything: there are deliveries that fail, too.
    const url = index === paying.length - 1 ? receivers.refusing : receivers.taking;
    await setWebhook(audit, createVault(secretKey), partnerId, url);
    const creation = await createKey(audit, secretKey, { partnerId, mode: 'live', allowedAddresses: [] });
    if (creation.outcome !== 'created') throw new Error(`no key for ${name}: ${creation.outcome}`);
    shops.push({ partnerId, key: creation.key, keyId: creation.apiKey.keyId });
  }
  return shops;
}

/** Nobody keeps a key of the demonstration. */
export async function closeShops({ audit }: CommandContext, shops: Shop[]): Promise<void> {
  for (const { keyId } of shops) await revokeKey(audit, keyId);
}

export interface Receivers {
  taking: string;
  refusing: string;
  close(): void;
}

/** Where the shops hear of their payments for as long as the demonstration runs. */
export async function startReceivers(): Promise<Receivers> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(request.url === '/refuse' ? 503 : 200).end());
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    taking: `${address}/take`,
    refusing: `${address}/refuse`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
