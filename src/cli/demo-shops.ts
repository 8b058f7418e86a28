import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Id } from '../base/ids.ts';
import { programName } from '../base/program-name.ts';
import { blockRecipient } from '../controls/index.ts';
import { topUp } from '../ledger/index.ts';
import * as partners from '../partners/index.ts';
import { createVault, setWebhook } from '../webhooks/index.ts';
import type { Context } from './command.ts';
import { refuse } from './output.ts';

/** A paying demo partner, with an API key for this run. */
export interface Shop {
  partnerId: Id<'prt'>;
  key: string;
  keyId: string;
}

/** All demo partners have names with this prefix; the next run finds them by it. */
export const demoPrefix = 'Demonstration ';
const paying = ['bakery', 'tea shop', 'book shop', 'flower shop', 'bicycle repair'];
const suspended = 'lottery';
const newcomer = 'newcomer';
export const blockedRecipient = 'Demonstration casino';

/** Enough for ten thousand payments by five shops. */
const balanceMicroUsdt = 60_000_000_000n;
const highLimits = { concurrent: 100, createRps: 1_000, createBurst: 1_000, otherRps: 1_000 };
/** Not a real person: Telegram has no such user id. */
const demoPerson = { userId: 1n, name: 'Demonstration person' };

/** The service of the demo listens only here, and nobody else gets a key of it. */
const ownAddresses = ['127.0.0.1'];

/** Adds each shop to `shops` as soon as it has its key, so that the key can be revoked whatever fails after it. */
export async function openShops(
  context: Context,
  { receivers, run, shops }: { receivers: Receivers; run: string; shops: Shop[] },
): Promise<void> {
  const { audit, keyring } = context;
  const known = new Map((await partners.listPartners(audit.pool)).map(partner => [partner.name, partner]));
  const find = async (name: string): Promise<partners.Partner> =>
    known.get(demoPrefix + name) ?? partners.createPartner(audit, demoPrefix + name);

  await partners.setSuspended(audit, (await find(suspended)).partnerId, true, 'The licence has expired');
  if (!known.has(demoPrefix + newcomer)) await partners.signUp(audit, demoPerson, demoPrefix + newcomer);
  await blockRecipient(audit, blockedRecipient);

  for (const [index, name] of paying.entries()) {
    const { partnerId, ...partner } = await find(name);
    if (partner.suspended) {
      context.progress(`${partner.name} makes no payments: it is suspended. ${adviceFor([partnerId])}`);
      continue;
    }
    await partners.setLimits(audit, partnerId, highLimits);
    await topUp(audit, { partnerId, mode: 'live', reference: run, microUsdt: balanceMicroUsdt });
    // The receiver of the last shop refuses everything, so that there are failed deliveries too.
    const url = index === paying.length - 1 ? receivers.refusingUrl : receivers.acceptingUrl;
    await setWebhook(audit, createVault(keyring), partnerId, url);
    const creation = await partners.createKey(audit, keyring, {
      partnerId,
      mode: 'live',
      allowedAddresses: ownAddresses,
    });
    if (creation.outcome !== 'created') throw new Error(`no key for ${name}: ${creation.outcome}`);
    shops.push({ partnerId, key: creation.key, keyId: creation.apiKey.keyId });
  }
}

/** Before anything is changed: an operator may have suspended the shops of an earlier run. */
export function refuseWithoutShops(all: partners.Partner[]): void {
  const names = paying.map(name => demoPrefix + name);
  const known = all.filter(({ name }) => names.includes(name));
  const areAllSuspended = names.every(name => known.some(each => each.name === name && each.suspended));
  if (!areAllSuspended) return;
  refuse(
    'partner_suspended',
    `All shops of the demo are suspended. ${adviceFor(known.map(({ partnerId }) => partnerId))} Nothing was changed.`,
  );
}

const adviceFor = (partnerIds: Id<'prt'>[]) =>
  `To change that: ${programName} partner resume ${partnerIds.join(' or ')}.`;

/** Revokes the keys of this run. */
export async function closeShops({ audit }: Context, shops: Shop[]): Promise<void> {
  for (const { keyId } of shops) await partners.revokeKey(audit, keyId);
}

type Receivers = Awaited<ReturnType<typeof startReceivers>>;

/** Webhook receivers of the shops, for as long as the demo runs. */
export async function startReceivers() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(request.url === '/refuse' ? 503 : 200).end());
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    acceptingUrl: `${address}/accept`,
    refusingUrl: `${address}/refuse`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
