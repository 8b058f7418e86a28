import { parseMicroUsdt } from '../../../base/money.ts';
import { listCredits, readBalances } from '../../../ledger/index.ts';
import { refillTestBalance } from '../../../partners/index.ts';
import { clearBalanceMark, readBalanceMark, setBalanceMark } from '../../notices/balance-marks.ts';
import { ask, dataOf, type PartnerVisit, show } from '../visit.ts';
import type { Menu } from './menu.ts';

const creditsShown = 10;

async function showBalance(visit: PartnerVisit): Promise<void> {
  const { say, deps, partner } = visit;
  const balances = await readBalances(deps.pool, partner.partnerId);
  const mark = await readBalanceMark(deps.pool, partner.partnerId);
  await show(visit, {
    text: say.balance.state(balances, partner.limits, mark),
    buttons: [
      [
        { text: say.balance.topUp, data: dataOf('bt', partner) },
        { text: say.balance.history, data: dataOf('bh', partner) },
      ],
      [
        { text: say.balance.refill, data: dataOf('br', partner) },
        { text: say.balance.setMark, data: dataOf('bl', partner) },
      ],
      [{ text: say.back, data: dataOf('h', partner) }],
    ],
  });
}

const backTo = ({ say, partner }: PartnerVisit) => [[{ text: say.back, data: dataOf('b', partner) }]];

const askForMark = (visit: PartnerVisit, text: string) =>
  ask(visit, {
    step: 'balance_mark',
    partnerId: visit.partner.partnerId,
    text,
    confirm: visit.say.balance.noMark,
    back: dataOf('b', visit.partner),
  });

export const balance: Menu = {
  actions: {
    b: { role: 'viewer', run: showBalance },
    bt: {
      role: 'viewer',
      run: visit =>
        show(visit, {
          text: visit.say.balance.howToTopUp(visit.partner.partnerId),
          buttons: backTo(visit),
        }),
    },
    bh: {
      role: 'viewer',
      run: async visit => {
        const credits = await listCredits(visit.deps.pool, visit.partner.partnerId, creditsShown);
        await show(visit, { text: visit.say.balance.credits(credits), buttons: backTo(visit) });
      },
    },
    br: {
      role: 'developer',
      run: async visit => {
        const outcome = await refillTestBalance(visit.audit, visit.partner.partnerId);
        visit.toast = outcome === 'refilled' ? visit.say.balance.refilled : visit.say.balance.notAgainToday;
        await showBalance(visit);
      },
    },
    bl: { role: 'owner', run: visit => askForMark(visit, visit.say.balance.askMark) },
  },
  steps: {
    balance_mark: {
      role: 'owner',
      answer: async (visit, _args, typed) => {
        const mark = parseMicroUsdt(typed.trim().replace(',', '.'));
        if (!mark) return askForMark(visit, visit.say.balance.badMark);
        await setBalanceMark(visit.audit, visit.partner.partnerId, mark);
        await showBalance(visit);
      },
      confirm: async visit => {
        await clearBalanceMark(visit.audit, visit.partner.partnerId);
        await showBalance(visit);
      },
    },
  },
};
