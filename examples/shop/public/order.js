// The state of one order, as it changes. The server says what to show; this puts it on the page.
const { order } = document.querySelector('[data-order]').dataset;
const at = id => document.getElementById(id);

const timeOf = moment => new Date(moment).toLocaleTimeString();

function show({ state, title, advice, amount_usdt, price_until, payment_id, history }) {
  at('state').textContent = title;
  at('state').className = `badge ${state}`;
  at('advice').textContent = advice;
  const price = amount_usdt ? `${amount_usdt} USDT` : '';
  at('usdt').textContent = price_until ? `${price} until ${timeOf(price_until)}` : price;
  at('payment').textContent = payment_id ?? '';
  at('pay').hidden = state !== 'new';
  at('hurry').hidden = state !== 'processing';
  at('again').hidden = !['paid', 'declined', 'refused'].includes(state);
  at('history').replaceChildren(
    ...history.map(one => {
      const item = document.createElement('li');
      item.className = one.state;
      const time = document.createElement('time');
      time.dateTime = one.at;
      time.textContent = timeOf(one.at);
      item.append(
        time,
        ` ${one.title} `,
        Object.assign(document.createElement('small'), { textContent: one.source }),
      );
      return item;
    }),
  );
}

// The browser reconnects by itself. The first message is the current state of the order.
new EventSource(`/orders/${order}/changes`).onmessage = ({ data }) => show(JSON.parse(data));

for (const act of ['pay', 'hurry'])
  at(act).addEventListener('click', async () => {
    at(act).disabled = true;
    const response = await fetch(`/orders/${order}/${act}`, { method: 'POST' }).catch(() => undefined);
    if (!response?.ok) at('advice').textContent = 'The shop is not responding. Please try again.';
    at(act).disabled = false;
  });
