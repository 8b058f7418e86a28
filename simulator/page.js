const byId = id => document.getElementById(id);
const [makeForm, faultForm, refundForm] = [byId('make'), byId('fault'), byId('refund')];
const message = byId('message');
let chosenId = null;
let latest = { qrs: [], orders: [], faults: [], kinds: {}, refunds: [] };

/** Creates an element. Text stays text, so nothing that comes from a request can become markup. */
function element(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

async function call(method, path, body) {
  const response = await fetch(path, { method, body: body && JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok && path !== '/rate') throw new Error(answer.message);
  return answer;
}

function showMessage(text, isError = false) {
  message.textContent = text;
  message.className = isError ? 'error' : '';
}

/** Runs the action of a button, shows its result, and refreshes the page. */
async function act(work, done) {
  try {
    await work();
    showMessage(done);
  } catch (error) {
    showMessage(error.message, true);
  }
  await refresh();
}

const rubles = kopecks =>
  kopecks === null
    ? 'no amount'
    : `${Math.floor(kopecks / 100)}.${String(kopecks % 100).padStart(2, '0')} RUB`;
const stateMark = ({ state }) => element('span', { className: state }, state.replace('_', ' '));
const shortened = qrcId => `${qrcId.slice(0, 10)}…`;
const time = iso => new Date(iso).toLocaleTimeString();

const button = (id, onclick, ...content) => element('button', { type: 'button', id, onclick }, ...content);
const noneYet = () => element('p', {}, 'None yet.');

function qrLine(qr) {
  const choose = () => {
    chosenId = qr.qrc_id;
    refresh();
  };
  const text = element('span', {}, `${qr.recipient}, ${rubles(qr.amount_kopecks)}`);
  const made = button(`choose-${qr.qrc_id}`, choose, text, stateMark(qr));
  Object.assign(made, { className: 'line', ariaPressed: String(qr.qrc_id === chosenId) });
  return element('li', {}, made);
}

function qrCard(qr) {
  if (!qr) return [element('p', {}, 'No QR codes yet. Create one.')];
  const copy = () => act(() => navigator.clipboard.writeText(qr.link), 'Link copied.');
  const facts = {
    Status: stateMark(qr),
    Amount: rubles(qr.amount_kopecks),
    Recipient: `${qr.recipient} (${qr.recipient_id})`,
    Type: qr.scenario,
    Expires: qr.expires_at ? new Date(qr.expires_at).toLocaleString() : 'never',
  };
  const rows = Object.entries(facts).flatMap(([name, value]) => [
    element('dt', {}, name),
    element('dd', {}, value),
  ]);
  const orders = latest.orders.filter(order => order.qrc_id === qr.qrc_id);
  return [
    element('img', { src: `/sim/qrs/${qr.qrc_id}.svg`, alt: `QR code of ${qr.link}` }),
    element('dl', {}, ...rows),
    element('code', {}, qr.link),
    button('copy', copy, 'Copy link'),
    element('h3', {}, 'Orders for this QR code'),
    orders.length ? element('ul', {}, ...orders.map(orderLine)) : noneYet(),
  ];
}

const orderLine = order =>
  element('li', {}, `${time(order.created_at)} `, stateMark(order), ` ${order.reason ?? ''}`);

function orderTable(orders) {
  if (orders.length === 0) return [noneYet()];
  const names = ['Created', 'Payment', 'Order', 'Status', 'Reason', 'Amount', 'QR code'];
  const head = element('tr', {}, ...names.map(name => element('th', { scope: 'col' }, name)));
  const rows = orders.slice(0, 30).map(order => {
    const { created_at, payment_id, order_id, reason, amount_kopecks, qrc_id } = order;
    const cells = [time(created_at), payment_id, order_id, stateMark(order), reason ?? ''];
    const all = [...cells, rubles(amount_kopecks), shortened(qrc_id)];
    return element('tr', {}, ...all.map(cell => element('td', {}, cell)));
  });
  return [element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows))];
}

function faultLine({ id, kind, on, qrc_id, times, ...params }) {
  const details = Object.values(params).map(value => `, ${value}`);
  const often = times === null ? 'until cleared' : `${times} more calls`;
  const text = `${kind} on ${on}${details.join('')}, ${often}${qrc_id ? `, ${shortened(qrc_id)}` : ''}`;
  const clear = () => act(() => call('DELETE', `/sim/faults/${id}`), 'Failure scenario cleared.');
  const clearing = Object.assign(button(`clear-${id}`, clear, 'Clear'), { ariaLabel: `Clear ${text}` });
  return element('li', { className: 'line' }, element('span', {}, text), clearing);
}

function faultLines(faults) {
  if (faults.length === 0) return [element('p', {}, 'None. The gateway works normally.')];
  const clear = () => act(() => call('DELETE', '/sim/faults'), 'All failure scenarios cleared.');
  return [...faults.map(faultLine), element('li', {}, button('clear-all', clear, 'Clear all'))];
}

function refundLine({ refund_id, payment_id, amount_kopecks, created_at, state }) {
  const text = `${time(created_at)} ${refund_id}, ${rubles(amount_kopecks)}, ${payment_id}`;
  const line = element('li', { className: 'line' }, element('span', {}, text));
  if (state === 'revoked') line.append(stateMark({ state }));
  else {
    const revoke = () => act(() => call('POST', `/sim/refunds/${refund_id}/revoke`), 'Refund revoked.');
    const ariaLabel = `Revoke ${text}`;
    line.append(Object.assign(button(`revoke-${refund_id}`, revoke, 'Revoke'), { ariaLabel }));
  }
  return line;
}

/** Keeps the choice while the page is refreshed. */
function offerOrders(orders) {
  const paid = orders.filter(({ state }) => state === 'succeeded');
  const key = JSON.stringify(paid.map(({ payment_id }) => payment_id));
  const { payment_id: select } = refundForm;
  if (select.shownKey === key) return;
  select.shownKey = key;
  const chosen = select.value;
  const option = ({ payment_id, amount_kopecks }) =>
    element('option', { value: payment_id }, `${payment_id}, ${rubles(amount_kopecks)}`);
  select.replaceChildren(...paid.map(option));
  if (paid.some(({ payment_id }) => payment_id === chosen)) select.value = chosen;
}

/** Replaces only what has changed, and returns the focus to the button that had it. */
function show(id, facts, make) {
  const [container, key] = [byId(id), JSON.stringify([facts, chosenId])];
  if (container.shownKey === key) return;
  const focusedId = document.activeElement?.id;
  container.replaceChildren(...make());
  container.shownKey = key;
  if (focusedId && document.activeElement === document.body) byId(focusedId)?.focus();
}

function offerParams() {
  const { on = [], params = [] } = latest.kinds[faultForm.kind.value] ?? {};
  faultForm.on.replaceChildren(...on.map(name => element('option', {}, name)));
  if (on.includes('pay')) faultForm.on.value = 'pay';
  for (const name of ['ms', 'outcome', 'reason', 'status']) {
    faultForm[name].disabled = !params.includes(name);
    faultForm[name].closest('label').hidden = faultForm[name].disabled;
  }
}

async function refresh() {
  try {
    const paths = ['/sim/qrs', '/sim/orders', '/sim/faults', '/rate', '/sim/refunds'];
    const [{ qrs }, { orders }, { faults, kinds }, { rate }, { refunds }] = await Promise.all(
      paths.map(path => call('GET', path)),
    );
    latest = { qrs, orders, faults, kinds, refunds };
    chosenId ??= qrs[0]?.qrc_id ?? null;
    byId('rate').textContent = rate ? `1 USDT = ${rate} RUB` : 'The rate feed is down';
  } catch {
    return showMessage('The simulator is not responding.', true);
  }
  if (message.textContent === 'The simulator is not responding.') showMessage('');
  const { qrs, orders, faults, kinds, refunds } = latest;
  const chosen = qrs.find(qr => qr.qrc_id === chosenId);
  if (faultForm.kind.options.length === 0) {
    faultForm.kind.append(...Object.keys(kinds).map(name => element('option', {}, name)));
    offerParams();
  }
  show('qrs', qrs, () => (qrs.length ? qrs.map(qrLine) : [noneYet()]));
  show('qr', [chosen, orders], () => qrCard(chosen));
  show('faults', faults, () => faultLines(faults));
  show('orders', orders, () => orderTable(orders));
  offerOrders(orders);
  show('refunds', refunds, () => (refunds.length ? refunds.map(refundLine) : [noneYet()]));
}

function kopecks(amount) {
  const [whole, part = ''] = amount.replace(',', '.').split('.');
  return amount === '' ? null : Number(whole) * 100 + Number(part.padEnd(2, '0'));
}

refundForm.addEventListener('submit', event => {
  event.preventDefault();
  const { payment_id, rubles: amount } = Object.fromEntries(new FormData(refundForm));
  const body = { amount_kopecks: kopecks(amount), unchecked: refundForm.unchecked.checked };
  act(() => call('POST', `/sim/orders/${payment_id}/refunds`, body), 'Refund created.');
});

makeForm.addEventListener('submit', event => {
  event.preventDefault();
  const { scenario, rubles: amount, recipient } = Object.fromEntries(new FormData(makeForm));
  const amount_kopecks = kopecks(amount);
  const reusable = makeForm.reusable.checked || undefined;
  act(async () => {
    const body = { scenario, amount_kopecks, recipient: recipient || undefined, reusable };
    chosenId = (await call('POST', '/sim/qrs', body)).qrc_id;
  }, 'QR code created.');
});

faultForm.addEventListener('submit', event => {
  event.preventDefault();
  const { chosen, reason, times, ms, status, ...rest } = Object.fromEntries(new FormData(faultForm));
  const number = text => (text ? Number(text) : undefined);
  const isDecline = rest.kind === 'decline' || rest.outcome === 'declined';
  const fault = { ...rest, ms: number(ms), status: number(status), times: number(times) };
  fault.reason = (isDecline && reason) || undefined;
  fault.qrc_id = chosen ? chosenId : null;
  act(() => call('PUT', '/sim/faults', fault), 'Failure scenario added.');
});

faultForm.kind.addEventListener('change', offerParams);
setInterval(() => document.hidden || refresh(), 1000);
refresh();
