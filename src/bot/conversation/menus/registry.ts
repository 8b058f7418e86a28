import { balance } from './balance.ts';
import { home, personalActions } from './home.ts';
import { keyAddresses } from './key-addresses.ts';
import { keys } from './keys.ts';
import { limitedKeys } from './limited-keys.ts';
import type { PartnerAction, PartnerStep, PersonalAction } from './menu.ts';
import { payments } from './payments.ts';
import { portalActions } from './portal.ts';
import { rate } from './rate.ts';
import { keyRolls } from './roll-key.ts';
import { settingsActions } from './settings.ts';
import { team } from './team.ts';
import { webhook } from './webhook.ts';

const menus = [home, keys, keyAddresses, limitedKeys, keyRolls, webhook, balance, payments, rate, team];

/** Maps instead of objects: names come from callback data, and `__proto__` must not match anything. */
const partnerActions = new Map<string, PartnerAction>(
  menus.flatMap(({ actions }) => Object.entries(actions)),
);
const partnerSteps = new Map<string, PartnerStep>(menus.flatMap(({ steps }) => Object.entries(steps)));
const personal = new Map<string, PersonalAction>(
  Object.entries({ ...personalActions, ...portalActions, ...settingsActions }),
);

export const findPartnerAction = (name: string) => partnerActions.get(name);
export const findPartnerStep = (name: string) => partnerSteps.get(name);
export const findPersonalAction = (name: string) => personal.get(name);
