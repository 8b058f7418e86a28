import { parseMicroUsdt } from '../../../base/money.ts';
import { listCredits, readBalances } from '../../../ledger/index.ts';
import { refillTestBalance } from '../../../partners/index.ts';
import { clearBalanceMark, readBalanceMark, setBalanceMark } from '../../notices/balance-marks.ts';
import { ask, callbackData, type PartnerContext, show } from '../chat-context.ts';
import type { Menu } from './menu.ts';
import { showTopUp } from './top-up.ts';

const creditsShown = 10;

async function showBalance(chat: PartnerContext): Promise<void> {
  const { texts, deps, partner } = chat;
  const balances = await readBalances(deps.pool, partner.partnerId);
  const mark = await readBalanceMark(deps.pool, partner.partnerId);
  await show(chat, {
    text: texts.balance.state(balances, partner.limits, mark),
    buttons: [
      [
        { text: texts.balance.topUp, data: callbackData('bt', partner) },
        { text: texts.balance.history, data: callbackData('bh', partner) },
      ],
      [
        { text: texts.balance.refill, data: callbackData('br', partner) },
        { text: texts.balance.setMark, data: callbackData('bl', partner) },
      ],
      [{ text: texts.back, data: callbackData('h', partner) }],
    ],
  });
}

const backTo = ({ texts, partner }: PartnerContext) => [
  [{ text: texts.back, data: callbackData('b', partner) }],
];

const askForMark = (chat: PartnerContext, text: string) =>
  ask(chat, {
    step: 'balance_mark',
    partnerId: chat.partner.partnerId,
    text,
    confirm: chat.texts.balance.noMark,
    back: callbackData('b', chat.partner),
  });

export const balance: Menu = {
  actions: {
    b: { role: 'viewer', run: showBalance },
    bt: { role: 'viewer', run: showTopUp },
    bh: {
      role: 'viewer',
      run: async chat => {
        const credits = await listCredits(chat.deps.pool, chat.partner.partnerId, creditsShown);
        await show(chat, { text: chat.texts.balance.credits(credits), buttons: backTo(chat) });
      },
    },
    br: {
      role: 'developer',
      run: async chat => {
        const outcome = await refillTestBalance(chat.audit, chat.partner.partnerId);
        chat.toast = outcome === 'refilled' ? chat.texts.balance.refilled : chat.texts.balance.notAgainToday;
        await showBalance(chat);
      },
    },
    bl: { role: 'owner', run: chat => askForMark(chat, chat.texts.balance.askMark) },
  },
  steps: {
    balance_mark: {
      role: 'owner',
      answer: async (chat, _args, typed) => {
        const mark = parseMicroUsdt(typed.trim().replace(',', '.'));
        if (!mark) return askForMark(chat, chat.texts.balance.badMark);
        await setBalanceMark(chat.audit, chat.partner.partnerId, mark);
        await showBalance(chat);
      },
      confirm: async chat => {
        await clearBalanceMark(chat.audit, chat.partner.partnerId);
        await showBalance(chat);
      },
    },
  },
};
