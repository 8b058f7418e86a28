import type { MemberRight } from '../../../partners/index.ts';
import { balance } from './balance.ts';
import { home, homeActions } from './home.ts';
import { keys } from './keys.ts';
import type { PartnerAction, PartnerStep, PersonalAction } from './menu.ts';
import { newKeys } from './new-keys.ts';
import { payments } from './payments.ts';
import { rate } from './rate.ts';
import { keyRolls } from './roll-key.ts';
import { settingsActions } from './settings.ts';
import { team } from './team.ts';
import { webhook } from './webhook.ts';

/** Maps instead of objects: names come from callback data, and `__proto__` must not match anything. */
export const partnerActions = new Map<string, { right: MemberRight; run: PartnerAction }>();
export const partnerSteps = new Map<string, PartnerStep & { right: MemberRight }>();
export const personalActions = new Map<string, PersonalAction>(
  Object.entries({ ...homeActions, ...settingsActions }),
);

for (const menu of [home, keys, newKeys, keyRolls, webhook, balance, payments, rate, team])
  for (const [name, { actions = {}, steps = {} }] of Object.entries(menu)) {
    const right = name as MemberRight;
    for (const [name, run] of Object.entries(actions)) partnerActions.set(name, { right, run });
    for (const [name, step] of Object.entries(steps)) partnerSteps.set(name, { right, ...step });
  }
