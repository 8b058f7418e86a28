import { isLabel } from '../../../base/label.ts';
import { parseKopecks } from '../../../base/money.ts';
import type { Mode } from '../../../ledger/index.ts';
import { type KeyRights, roleIncludes, type Scope, scopes, type WantedKey } from '../../../partners/index.ts';
import { ask, callbackData, type PartnerContext, show } from '../chat-context.ts';
import { createFor, readAddresses, roleFor } from './keys.ts';
import type { Menu } from './menu.ts';

const dayMs = 86_400_000;
const scopeChoices = [...scopes, 'both'] as const;

/** The answers so far, in the order of the questions: mode, scope, days, limit per payment, limit per day, label. */
type Answers = string[];

/** Step by step, so that each answer is one message; every question has a button for "none". */
function askNext(chat: PartnerContext, step: string, answers: Answers, text: string, confirm: string) {
  const { partner } = chat;
  return ask(chat, {
    step,
    partnerId: partner.partnerId,
    args: answers,
    text,
    confirm,
    back: callbackData('k', partner),
  });
}

const modeOf = (answers: Answers) => (answers[0] === 'live' ? 'live' : 'test') satisfies Mode;

async function chooseScope(chat: PartnerContext): Promise<void> {
  const { texts, partner } = chat;
  await show(chat, {
    text: texts.keys.askScope,
    buttons: [
      ...scopeChoices.map(scope =>
        (['test', 'live'] as const).map(mode => ({
          text: texts.keys.scopeButton(mode, scope),
          data: callbackData('kc', partner, mode, scope),
        })),
      ),
      [{ text: texts.back, data: callbackData('k', partner) }],
    ],
  });
}

async function begin(chat: PartnerContext, mode: string, scope: string): Promise<void> {
  const { texts, partner } = chat;
  if ((mode !== 'test' && mode !== 'live') || !scopeChoices.some(known => known === scope)) return;
  if (!roleIncludes(chat.role, roleFor(mode))) {
    chat.toast = texts.notAllowed(roleFor(mode));
    return;
  }
  if (mode === 'live' && !partner.liveApproved) {
    chat.toast = texts.keys.notApproved;
    return;
  }
  await askExpiry(chat, [mode, scope]);
}

const askExpiry = (chat: PartnerContext, answers: Answers, wrong?: string) =>
  askNext(chat, 'key_expiry', answers, wrong ?? chat.texts.keys.askExpiry, chat.texts.keys.noExpiry);

const askLimits = (chat: PartnerContext, answers: Answers, wrong?: string) =>
  // A key that only reads needs no limits.
  answers[1] === 'read'
    ? askLabel(chat, [...answers, '', ''])
    : askNext(chat, 'key_limits', answers, wrong ?? chat.texts.keys.askLimits, chat.texts.keys.noLimits);

const askLabel = (chat: PartnerContext, answers: Answers, wrong?: string) =>
  askNext(chat, 'key_label', answers, wrong ?? chat.texts.keys.askLabel, chat.texts.keys.noLabel);

const askAddresses = (chat: PartnerContext, answers: Answers, wrong?: string) =>
  askNext(
    chat,
    'key_limited_addresses',
    answers,
    wrong ?? chat.texts.keys.askAddresses(modeOf(answers)),
    chat.texts.keys.anyAddress,
  );

/** Two amounts in rubles; 0 means none. Undefined for anything else. */
function readLimits(typed: string): [payment: string, day: string] | undefined {
  const amounts = typed.trim().split(/[\s;]+/);
  const kopecks = amounts.map(parseKopecks);
  if (amounts.length !== 2 || kopecks.some(one => one === undefined)) return undefined;
  return [`${kopecks[0] || ''}`, `${kopecks[1] || ''}`];
}

const readDays = (typed: string) => (/^[1-9]\d{0,3}$/.test(typed.trim()) ? typed.trim() : undefined);

function wantedOf(chat: PartnerContext, answers: Answers): Partial<WantedKey> {
  const [, scope = '', days = '', payment = '', day = '', label = ''] = answers;
  const kopecks = (text: string) => (text === '' ? null : BigInt(text));
  const rights: KeyRights = {
    scopes: scope === 'both' ? [...scopes] : [scope as Scope],
    maxKopecks: kopecks(payment),
    dailyKopecks: kopecks(day),
  };
  const expiresAt = days === '' ? null : new Date(chat.deps.clock.nowMs() + Number(days) * dayMs);
  return { rights, expiresAt, label: label || null };
}

/** Creates a key with chosen scopes, expiry, limits and label. */
export const limitedKeys: Menu = {
  actions: {
    kl: { role: 'developer', run: chooseScope },
    kc: { role: 'developer', run: (chat, mode = '', scope = '') => begin(chat, mode, scope) },
  },
  steps: {
    key_expiry: {
      role: 'developer',
      answer: (chat, answers, typed) => {
        const days = readDays(typed);
        return days === undefined
          ? askExpiry(chat, answers, chat.texts.keys.badExpiry)
          : askLimits(chat, [...answers, days]);
      },
      confirm: (chat, answers) => askLimits(chat, [...answers, '']),
    },
    key_limits: {
      role: 'developer',
      answer: (chat, answers, typed) => {
        const limits = readLimits(typed);
        return limits
          ? askLabel(chat, [...answers, ...limits])
          : askLimits(chat, answers, chat.texts.keys.badLimits);
      },
      confirm: (chat, answers) => askLabel(chat, [...answers, '', '']),
    },
    key_label: {
      role: 'developer',
      answer: (chat, answers, typed) => {
        const label = typed.trim();
        return isLabel(label)
          ? askAddresses(chat, [...answers, label])
          : askLabel(chat, answers, chat.texts.keys.badLabel);
      },
      confirm: (chat, answers) => askAddresses(chat, [...answers, '']),
    },
    key_limited_addresses: {
      role: 'developer',
      answer: (chat, answers, typed) => {
        const addresses = readAddresses(typed);
        return addresses
          ? createFor(chat, modeOf(answers), addresses, wantedOf(chat, answers))
          : askAddresses(chat, answers, chat.texts.keys.badAddresses);
      },
      confirm: (chat, answers) => createFor(chat, modeOf(answers), [], wantedOf(chat, answers)),
    },
  },
};
