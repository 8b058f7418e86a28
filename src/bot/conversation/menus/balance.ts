import { addressUrl } from '../../../base/deposit-settings.ts';
import { parseMicroUsdt } from '../../../base/money.ts';
import { openAddresses } from '../../../deposits/index.ts';
import { listCredits, readBalances } from '../../../ledger/index.ts';
import { refillTestBalance } from '../../../partners/index.ts';
import { drawQrCode } from '../../images/qr-code.ts';
import { readBalanceMark, setBalanceMark } from '../../notices/balance-marks.ts';
import { ask, backTo, button, type PartnerContext, sendPicture, show, supportRow } from '../chat-context.ts';
import type { Menu } from './menu.ts';

const creditsShown = 10;

async function showBalance(chat: PartnerContext): Promise<void> {
  const { deps, partner } = chat;
  const texts = chat.texts.balance;
  const balances = await readBalances(deps.pool, partner.partnerId);
  const mark = await readBalanceMark(deps.pool, partner.partnerId);
  await show(chat, texts.state(balances, partner.limits, mark), [
    [button(chat, texts.topUp, 'bt'), button(chat, texts.history, 'bh')],
    [button(chat, texts.refill, 'br'), button(chat, texts.setMark, 'bl')],
    backTo(chat, 'h'),
  ]);
}

/** Where to send USDT: of the chosen chain, or of the only one. Without chains there is none. */
async function showTopUp(chat: PartnerContext, chosen?: string): Promise<void> {
  const { deps, partner } = chat;
  const texts = chat.texts.balance;
  const back = backTo(chat, 'b');
  // Real money: nobody needs an address before live mode is approved.
  if (!partner.liveApproved) return show(chat, texts.topUpAfterApproval, [back]);
  const addresses = await openAddresses(deps.pool, deps.clock, deps.chains, partner.partnerId);
  if (addresses.length === 0) {
    const text = texts.howToTopUp(partner.partnerId, deps.supportUrl);
    return show(chat, text, [...supportRow(deps, chat.texts), back]);
  }
  const found = addresses.length === 1 ? addresses[0] : addresses.find(({ chain }) => chain.name === chosen);
  if (!found) {
    const networks = addresses.map(({ chain }) => [button(chat, chain.network, 'bt', chain.name)]);
    return show(chat, texts.chooseNetwork, [...networks, back]);
  }
  const png = await drawQrCode(found.address);
  const explorer = { text: texts.explorer, url: addressUrl(found.chain.name, found.address) };
  await sendPicture(chat, { png, fileName: 'address.png', caption: texts.sendTo(found) }, [[explorer], back]);
}

async function showHistory(chat: PartnerContext): Promise<void> {
  const credits = await listCredits(chat.deps.pool, chat.partner.partnerId, creditsShown);
  await show(chat, chat.texts.balance.credits(credits), [backTo(chat, 'b')]);
}

async function refill(chat: PartnerContext): Promise<void> {
  const outcome = await refillTestBalance(chat.audit, chat.partner.partnerId);
  chat.toast = outcome === 'refilled' ? chat.texts.balance.refilled : chat.texts.balance.notAgainToday;
  await showBalance(chat);
}

const askForMark = (chat: PartnerContext, wrong?: string) => {
  const { askMark, noMark } = chat.texts.balance;
  return ask(chat, { step: 'balance_mark', text: wrong ?? askMark, confirm: noMark, back: ['b'] });
};

async function setMark(chat: PartnerContext, mark: bigint | null): Promise<void> {
  await setBalanceMark(chat.audit, chat.partner.partnerId, mark);
  await showBalance(chat);
}

async function setTypedMark(chat: PartnerContext, typed: string): Promise<void> {
  const mark = parseMicroUsdt(typed.trim().replace(',', '.'));
  await (mark ? setMark(chat, mark) : askForMark(chat, chat.texts.balance.badMark));
}

export const balance: Menu = {
  money: { actions: { b: showBalance, bt: showTopUp, bh: showHistory } },
  integrate: { actions: { br: refill } },
  own: {
    actions: { bl: chat => askForMark(chat) },
    steps: { balance_mark: { answer: setTypedMark, confirm: chat => setMark(chat, null) } },
  },
};
