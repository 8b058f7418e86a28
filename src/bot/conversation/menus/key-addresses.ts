import { roleIncludes, setAllowedAddresses } from '../../../partners/index.ts';
import { ask, dataOf, type PartnerVisit } from '../visit.ts';
import { findKey, readAddresses, roleFor, showKey, showKeys } from './keys.ts';
import type { Menu } from './menu.ts';

async function askForAllowed(visit: PartnerVisit, keyId: string, wrong?: string): Promise<void> {
  const { say, partner } = visit;
  const key = await findKey(visit, keyId);
  if (!key) return showKeys(visit);
  if (!roleIncludes(visit.role, roleFor(key.mode))) {
    visit.toast = say.notAllowed(roleFor(key.mode));
    return;
  }
  await ask(visit, {
    step: 'key_allow',
    partnerId: partner.partnerId,
    args: [keyId],
    text: wrong ?? say.keys.askAllowed(key),
    confirm: say.keys.anyAddress,
    back: dataOf('kv', partner, keyId),
  });
}

async function allow(visit: PartnerVisit, keyId: string, addresses: string[]): Promise<void> {
  const key = await findKey(visit, keyId);
  const isAllowed = key && roleIncludes(visit.role, roleFor(key.mode));
  if (isAllowed) await setAllowedAddresses(visit.audit, keyId, addresses);
  visit.toast = isAllowed ? visit.say.keys.allowed : visit.say.outdated;
  await showKey(visit, keyId);
}

/** From where a key that is in use already may be used. */
export const keyAddresses: Menu = {
  actions: { ka: { role: 'developer', run: (visit, keyId = '') => askForAllowed(visit, keyId) } },
  steps: {
    key_allow: {
      role: 'developer',
      answer: async (visit, [keyId = ''], typed) => {
        const addresses = readAddresses(typed);
        if (!addresses) return askForAllowed(visit, keyId, visit.say.keys.badAddresses);
        await allow(visit, keyId, addresses);
      },
      confirm: (visit, [keyId = '']) => allow(visit, keyId, []),
    },
  },
};
