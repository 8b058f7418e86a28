import type { Mode } from '../../../ledger/index.ts';
import {
  type ApiKey,
  createKey,
  isAddressRange,
  listKeys,
  revokeKey,
  roleIncludes,
} from '../../../partners/index.ts';
import { sendSecretMessage } from '../secret-message.ts';
import { ask, dataOf, mayStillAct, type PartnerVisit, send, show } from '../visit.ts';
import type { Menu } from './menu.ts';

/** More are shown by the command line; a screen holds no more. */
const mostShown = 20;
const mostAddresses = 20;

export async function showKeys(visit: PartnerVisit): Promise<void> {
  const { say, partner, deps } = visit;
  const keys = (await listKeys(deps.pool, partner.partnerId)).filter(key => !key.revokedAt);
  const shown = keys.slice(-mostShown);
  await show(visit, {
    text: say.keys.list(shown),
    buttons: [
      ...shown.map(key => [{ text: say.keys.name(key), data: dataOf('kv', partner, key.keyId) }]),
      [
        { text: say.keys.create('test'), data: dataOf('kn', partner, 'test') },
        { text: say.keys.create('live'), data: dataOf('kn', partner, 'live') },
      ],
      [{ text: say.back, data: dataOf('h', partner) }],
    ],
  });
}

/** A key of this partner that is still in force; of others nothing is told. */
export async function findKey({ deps, partner }: PartnerVisit, keyId: string): Promise<ApiKey | undefined> {
  const keys = await listKeys(deps.pool, partner.partnerId);
  return keys.find(key => key.keyId === keyId && !key.revokedAt);
}

export async function showKey(visit: PartnerVisit, keyId: string): Promise<void> {
  const key = await findKey(visit, keyId);
  if (!key) return showKeys(visit);
  const { say, partner } = visit;
  await show(visit, {
    text: say.keys.details(key),
    buttons: [
      [{ text: say.keys.allow, data: dataOf('ka', partner, keyId) }],
      [{ text: say.keys.revoke, data: dataOf('kr', partner, keyId) }],
      [{ text: say.back, data: dataOf('k', partner) }],
    ],
  });
}

/** A live key spends the balance, so that only an owner makes one. */
export const roleFor = (mode: Mode) => (mode === 'live' ? 'owner' : 'developer');

async function askForAddresses(visit: PartnerVisit, mode: string, wrong?: string): Promise<void> {
  const { say, partner } = visit;
  if (mode !== 'live' && mode !== 'test') return;
  if (!roleIncludes(visit.role, roleFor(mode))) {
    visit.toast = say.notAllowed(roleFor(mode));
    return;
  }
  if (mode === 'live' && !partner.liveApproved) {
    visit.toast = say.keys.notApproved;
    return;
  }
  await ask(visit, {
    step: 'key_addresses',
    partnerId: partner.partnerId,
    args: [mode],
    text: wrong ?? say.keys.askAddresses(mode),
    confirm: say.keys.anyAddress,
    back: dataOf('k', partner),
  });
}

/** Undefined if it is no list of addresses, or too long a one. */
export function readAddresses(typed: string): string[] | undefined {
  const addresses = typed.split(/[\s,;]+/).filter(Boolean);
  const fine = addresses.length > 0 && addresses.length <= mostAddresses;
  return fine && addresses.every(isAddressRange) ? addresses : undefined;
}

/** False if there can be none, which was said. */
export async function createKeyAndShow(
  visit: PartnerVisit,
  mode: Mode,
  allowedAddresses: string[],
): Promise<boolean> {
  const { say, deps, partner } = visit;
  const wanted = { partnerId: partner.partnerId, mode, allowedAddresses };
  const message = await sendSecretMessage(visit);
  if (!(await mayStillAct(visit, roleFor(mode)))) {
    await message.discard();
    return false;
  }
  const creation = await createKey(visit.audit, deps.secretKey, wanted);
  if (creation.outcome === 'created') {
    await message.reveal(say.keys.created(creation.key)).catch(async error => {
      // Nobody has it, or nobody knows whether they do.
      await revokeKey(visit.audit, creation.apiKey.keyId);
      throw error;
    });
    return true;
  }
  await message.discard();
  const reason = creation.outcome === 'not_approved' ? say.keys.notApproved : say.partner.suspended;
  await send(visit, { text: reason, buttons: [[{ text: say.back, data: dataOf('k', partner) }]] });
  return false;
}

async function createFor(visit: PartnerVisit, mode: string, addresses: string[]): Promise<void> {
  if (mode !== 'live' && mode !== 'test') return;
  if (!roleIncludes(visit.role, roleFor(mode))) {
    visit.toast = visit.say.notAllowed(roleFor(mode));
    return;
  }
  if (!(await createKeyAndShow(visit, mode, addresses))) return;
  // The list goes below the key, so that both can be seen.
  await showKeys({ ...visit, pressedOn: undefined });
}

export const keys: Menu = {
  actions: {
    k: { role: 'developer', run: showKeys },
    kv: { role: 'developer', run: (visit, keyId = '') => showKey(visit, keyId) },
    kn: { role: 'developer', run: (visit, mode = '') => askForAddresses(visit, mode) },
    kr: {
      role: 'developer',
      run: async (visit, keyId = '') => {
        const key = await findKey(visit, keyId);
        if (!key) return showKeys(visit);
        if (!roleIncludes(visit.role, roleFor(key.mode))) {
          visit.toast = visit.say.notAllowed(roleFor(key.mode));
          return;
        }
        await ask(visit, {
          step: 'key_revoke',
          partnerId: visit.partner.partnerId,
          args: [keyId],
          text: visit.say.keys.askRevoke(key),
          confirm: visit.say.keys.revoke,
          back: dataOf('kv', visit.partner, keyId),
        });
      },
    },
  },
  steps: {
    key_addresses: {
      role: 'developer',
      answer: async (visit, [mode = ''], typed) => {
        const addresses = readAddresses(typed);
        if (!addresses) return askForAddresses(visit, mode, visit.say.keys.badAddresses);
        await createFor(visit, mode, addresses);
      },
      confirm: (visit, [mode = '']) => createFor(visit, mode, []),
    },
    key_revoke: {
      role: 'developer',
      confirm: async (visit, [keyId = '']) => {
        const key = await findKey(visit, keyId);
        const isAllowed = key && roleIncludes(visit.role, roleFor(key.mode));
        if (isAllowed) await revokeKey(visit.audit, keyId);
        visit.toast = isAllowed ? visit.say.keys.revoked : visit.say.outdated;
        await showKeys(visit);
      },
    },
  },
};
