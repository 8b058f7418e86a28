import { isLabel } from '../../../base/label.ts';
import { parseKopecks } from '../../../base/money.ts';
import type { Mode } from '../../../ledger/index.ts';
import { type KeyRights, type Scope, scopes, type WantedKey } from '../../../partners/index.ts';
import { ask, backTo, button, type PartnerContext, show } from '../chat-context.ts';
import { addressStep, createKeyAndShow, mayManage, showKeys } from './keys.ts';
import type { Menu, PartnerStep } from './menu.ts';

const dayMs = 86_400_000;
const scopeChoices = [...scopes, 'both'] as const;

/** The answers so far, in the order of the questions: mode, scope, days, limit per payment, limit per day, label. */
type Answers = string[];

const modeOf = (answers: Answers) => (answers[0] === 'live' ? 'live' : 'test');

async function chooseScope(chat: PartnerContext): Promise<void> {
  const texts = chat.texts.keys;
  await show(chat, texts.askScope, [
    ...scopeChoices.map(scope =>
      (['test', 'live'] as const).map(mode =>
        button(chat, texts.scopeButton(mode, scope), 'kc', mode, scope),
      ),
    ),
    backTo(chat, 'k'),
  ]);
}

/** Whether there may be a new key of this mode; otherwise the user sees why not. */
function mayCreate(chat: PartnerContext, mode: string): mode is Mode {
  if ((mode !== 'live' && mode !== 'test') || !mayManage(chat, mode)) return false;
  if (mode === 'test' || chat.partner.liveApproved) return true;
  chat.toast = chat.texts.keys.notApproved;
  return false;
}

async function beginPlain(chat: PartnerContext, mode = ''): Promise<void> {
  if (mayCreate(chat, mode)) await askAddresses(chat, [mode]);
}

async function begin(chat: PartnerContext, mode = '', scope = ''): Promise<void> {
  if (scopeChoices.some(known => known === scope) && mayCreate(chat, mode))
    await askNext(chat, 0, [mode, scope]);
}

function readDays(typed: string): Answers | undefined {
  const days = typed.trim();
  return /^[1-9]\d{0,3}$/.test(days) ? [days] : undefined;
}

/** Two amounts in rubles; 0 means none. Undefined for anything else. */
function readLimits(typed: string): Answers | undefined {
  const amounts = typed.trim().split(/[\s;]+/);
  const kopecks = amounts.map(parseKopecks);
  if (amounts.length !== 2 || kopecks.some(one => one === undefined)) return undefined;
  return kopecks.map(one => `${one || ''}`);
}

function readLabel(typed: string): Answers | undefined {
  const label = typed.trim();
  return isLabel(label) ? [label] : undefined;
}

/**
 * Each answer is one message; every question has a button for "none". The texts of a question are `askExpiry`, `noExpiry`
 * and `badExpiry`. The addresses are asked for last.
 */
const questions = [
  { step: 'key_expiry', name: 'Expiry', read: readDays, empty: [''] },
  { step: 'key_limits', name: 'Limits', read: readLimits, empty: ['', ''] },
  { step: 'key_label', name: 'Label', read: readLabel, empty: [''] },
] as const;

function askNext(chat: PartnerContext, index: number, answers: Answers, wrong?: string): Promise<void> {
  const question = questions[index];
  if (!question) return askAddresses(chat, answers);
  const { step, name, empty } = question;
  // A key that only reads needs no limits.
  if (step === 'key_limits' && answers[1] === 'read') return askNext(chat, index + 1, [...answers, ...empty]);
  const { [`ask${name}` as const]: text, [`no${name}` as const]: confirm } = chat.texts.keys;
  return ask(chat, { step, args: answers, text: wrong ?? text, confirm, back: ['k'] });
}

const stepAt = (index: number): PartnerStep => ({
  answer: (chat, typed, ...answers) => {
    const { read, name } = questions[index]!;
    const answer = read(typed);
    if (!answer) return askNext(chat, index, answers, chat.texts.keys[`bad${name}`]);
    return askNext(chat, index + 1, [...answers, ...answer]);
  },
  confirm: (chat, ...answers) => askNext(chat, index + 1, [...answers, ...questions[index]!.empty]),
});

function askAddresses(chat: PartnerContext, answers: Answers, wrong?: string): Promise<void> {
  const texts = chat.texts.keys;
  const text = wrong ?? texts.askAddresses(modeOf(answers));
  return ask(chat, { step: 'key_addresses', args: answers, text, confirm: texts.anyAddress, back: ['k'] });
}

/** Without more answers than the mode, the key has all rights. */
function wantedOf(chat: PartnerContext, answers: Answers): Partial<WantedKey> {
  const [, scope, days = '', payment = '', day = '', label = ''] = answers;
  if (scope === undefined) return {};
  const kopecks = (text: string) => (text === '' ? null : BigInt(text));
  const rights: KeyRights = {
    scopes: scope === 'both' ? [...scopes] : [scope as Scope],
    maxKopecks: kopecks(payment),
    dailyKopecks: kopecks(day),
  };
  const expiresAt = days === '' ? null : new Date(chat.deps.clock.nowMs() + Number(days) * dayMs);
  return { rights, expiresAt, label: label || null };
}

async function create(chat: PartnerContext, answers: Answers, addresses: string[]): Promise<void> {
  const mode = modeOf(answers);
  if (!mayManage(chat, mode)) return;
  if (!(await createKeyAndShow(chat, mode, addresses, wantedOf(chat, answers)))) return;
  // Below the key, so that both are visible.
  await showKeys({ ...chat, pressedMessageId: undefined });
}

/** Creates a key, with all rights or with chosen scopes, expiry, limits and label. */
export const newKeys: Menu = {
  integrate: {
    actions: { kn: beginPlain, kl: chooseScope, kc: begin },
    steps: {
      ...Object.fromEntries(questions.map(({ step }, index) => [step, stepAt(index)])),
      key_addresses: addressStep(askAddresses, create),
    },
  },
};
