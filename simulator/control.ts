import { renderSVG } from 'uqr';
import { type Answer, ok, refusal } from './answer.ts';
import { type Bank, orderNow } from './bank.ts';
import { kinds, readFault } from './faults.ts';
import { type Route, route } from './http.ts';
import { BadInput, boolean, type Fields, fieldsOf, integer, oneOf, optional, text } from './input.ts';
import { isExpired, isOneTime, newLink, resolved, type SimulatedQr, scenarios, shopFor } from './qr.ts';

const maxShown = 100;
const qrPath = /^\/sim\/qrs\/(\w{1,64})$/;

/** The control API: a person or a test makes QR codes, faults and rates with it. */
export function controlRoutes(bank: Bank): Route[] {
  const { qrs, faults } = bank.state;
  const shown = (qr: SimulatedQr) => ({ ...qr, ...resolved(qr), state: stateOf(bank, qr) });
  const withQr = (id: string | undefined, use: (qr: SimulatedQr) => Answer) => {
    const qr = qrs.get(id ?? '');
    return qr ? use(qr) : refusal(404, 'QR_CODE_NOT_FOUND', 'There is no such QR code.');
  };
  const keep = (qr: SimulatedQr) => {
    bank.record({ type: 'qr', qr });
    return shown(qr);
  };
  const showFaults = () => ok({ faults: [...faults.values()], kinds });
  return [
    route('POST', /^\/sim\/qrs$/, ({ body }) => ({ status: 201, body: keep(makeQr(body)) })),
    route('GET', /^\/sim\/qrs$/, () => ok({ qrs: [...qrs.values()].slice(-maxShown).reverse().map(shown) })),
    route('GET', qrPath, ({ params: [id] }) => withQr(id, qr => ok(shown(qr)))),
    route('PATCH', qrPath, ({ params: [id], body }) => withQr(id, qr => ok(keep(changeQr(qr, body))))),
    route('GET', /^\/sim\/qrs\/(\w{1,64})\.svg$/, ({ params: [id] }) => withQr(id, qrImage)),
    route('GET', /^\/sim\/orders$/, () => {
      const latest = bank.state.ordersByArrival.slice(-maxShown).reverse();
      return ok({ orders: latest.map(order => orderNow(order, Date.now())) });
    }),
    route('GET', /^\/sim\/faults$/, showFaults),
    route('PUT', /^\/sim\/faults$/, ({ body }) => {
      const fault = readFault(body);
      bank.record({ type: 'fault', fault });
      return ok(fault);
    }),
    route('DELETE', /^\/sim\/faults(?:\/([\w-]{1,64}))?$/, ({ params: [id] }) => {
      bank.record({ type: 'fault_cleared', id: id ?? null });
      return showFaults();
    }),
    route('GET', /^\/rate$/, () => rateAnswer(bank)),
    route('PUT', /^\/sim\/rate$/, ({ body }) => setRate(bank, body)),
  ];
}

function qrImage({ link }: SimulatedQr): Answer {
  return { status: 200, body: renderSVG(link, { ecc: 'M', border: 4 }), contentType: 'image/svg+xml' };
}

/** As a shop's screen would show it. A reusable QR stays open after a payment. */
function stateOf({ state }: Bank, qr: SimulatedQr): 'open' | 'in_progress' | 'paid' | 'expired' {
  const order = isOneTime(qr.qrc_id) && state.lastOrders.get(qr.qrc_id);
  const orderState = order && orderNow(order, Date.now()).state;
  if (orderState === 'succeeded') return 'paid';
  if (orderState === 'accepted') return 'in_progress';
  return isExpired(qr, Date.now()) ? 'expired' : 'open';
}

const changeable = ['amount_kopecks', 'recipient', 'recipient_id', 'purpose', 'expires_in_sec'];

function makeQr(body: unknown): SimulatedQr {
  const fields = fieldsOf(body, ['scenario', 'reusable', ...changeable]);
  const scenario = oneOf(fields, 'scenario', scenarios);
  const amountKopecks = readAmount(fields) ?? null;
  const isCashLink = scenario === 'C2B_CASH_REGISTER';
  const reusable = optional(boolean, fields, 'reusable') ?? (amountKopecks === null || isCashLink);
  // The amount of a cash link changes while the link stays the same, so the link does not carry it.
  const { qrc_id, link } = newLink(reusable, isCashLink ? null : amountKopecks);
  // The terms of SBP: an invoice of a cash link lives for 5 minutes, a one-time QR for 72 hours.
  const lifeSec = isCashLink && amountKopecks !== null ? 300 : reusable ? null : 72 * 3600;
  const shop = shopFor(typeof fields.recipient === 'string' ? fields.recipient : qrc_id);
  const facts = { qrc_id, scenario, amount_kopecks: amountKopecks, purpose: 'Оплата заказа', ...shop };
  const qr = { ...facts, expires_at: inSec(lifeSec), link, reusable, created_at: new Date().toISOString() };
  return withChanges(qr, fields);
}

const changeQr = (qr: SimulatedQr, body: unknown) => withChanges(qr, fieldsOf(body, changeable));

function withChanges(qr: SimulatedQr, fields: Fields): SimulatedQr {
  const amountKopecks = readAmount(fields);
  const lifeSec = optional(integer, fields, 'expires_in_sec', 0, 10 ** 9);
  const readText = (name: 'recipient' | 'recipient_id' | 'purpose') =>
    optional(text, fields, name) ?? qr[name];
  return {
    ...qr,
    amount_kopecks: amountKopecks === undefined ? qr.amount_kopecks : amountKopecks,
    recipient: readText('recipient'),
    recipient_id: readText('recipient_id'),
    purpose: readText('purpose'),
    expires_at: lifeSec === undefined ? qr.expires_at : inSec(lifeSec),
  };
}

const readAmount = (fields: Fields) => optional(integer, fields, 'amount_kopecks', 1, 10 ** 14);

const inSec = (sec: number | null) => (sec === null ? null : new Date(Date.now() + sec * 1000).toISOString());

function rateAnswer({ state }: Bank): Answer {
  const { rate, frozen_as_of, down } = state.rate;
  if (down) return refusal(503, 'UNAVAILABLE', 'The rate feed is down.');
  return ok({ rate, as_of: frozen_as_of ?? Math.floor(Date.now() / 1000) });
}

export const ratePattern = /^(?![0.]{0,18}$)\d{1,9}(\.\d{1,8})?$/;

function setRate(bank: Bank, body: unknown): Answer {
  const fields = fieldsOf(body, ['rate', 'frozen_as_of', 'down']);
  if (Object.keys(fields).length === 0) throw new BadInput('Send "rate", "frozen_as_of" or "down".');
  const rate = {
    rate: optional(text, fields, 'rate', ratePattern) ?? bank.state.rate.rate,
    frozen_as_of: optional(integer, fields, 'frozen_as_of', 0, 10 ** 10) ?? null,
    down: optional(boolean, fields, 'down') ?? false,
  };
  bank.record({ type: 'rate', rate });
  return ok(rate);
}
