import { renderSVG } from 'uqr';
import type { Order, State } from './orders.ts';
import type { Product } from './products.ts';

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const safe = (text: string) => text.replace(/[&<>"']/g, character => entities[character]!);

const words: Record<State, string> = {
  new: 'Waiting for you',
  paying: 'Paying …',
  processing: 'Waiting for the bank',
  paid: 'Paid',
  declined: 'Declined',
  refused: 'Not paid',
};

const advice: Record<State, string> = {
  new: 'Nothing has been debited.',
  paying: 'The payment was sent. You can close this page.',
  processing: 'The bank has not confirmed the payment yet. Do not pay again.',
  paid: 'Thank you! Your order is on its way.',
  declined: 'The bank declined the payment. The money was returned.',
  refused: 'Nothing has been debited.',
};

const sources = {
  customer: 'by you',
  answer: 'by the API response',
  webhook: 'by webhook',
  feed: 'by the event feed',
  look: 'by polling',
};

/** What the page shows of an order: no keys, and no ids of other orders. */
export function view({ state, quote, amount_usdt, payment_id, reason, history }: Order) {
  return {
    state,
    title: words[state],
    advice: [advice[state], state === 'declined' ? undefined : reason].filter(Boolean).join(' '),
    amount_usdt: amount_usdt ?? quote?.amount_usdt,
    price_until: state === 'new' ? quote?.expires_at : undefined,
    payment_id,
    history: history.map(({ state, at, source }, step) => ({
      state,
      title: step === 0 ? 'Ordered' : words[state],
      at,
      source: sources[source],
    })),
  };
}

const rub = (amount: string) => `${amount.replace('.', ',').replace(/\B(?=(\d{3})+,)/, '\u00a0')}\u00a0₽`;

const page = (title: string, body: string) => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${safe(title)}</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/shop.css">
</head>
<body>
  <header><a href="/">The kopeck shop</a> <span class="mode">test mode</span></header>
  <main>
${body}
  </main>
</body>
</html>
`;

export function shopPage(products: Product[], newest: Order[]): string {
  const card = ({ id, name, amount_rub, hint }: Product) => `
      <li>
        <div class="picture" aria-hidden="true">${safe(name.slice(0, 1))}</div>
        <h2>${safe(name)}</h2>
        <p class="price">${rub(amount_rub)}</p>
        <p class="hint">${safe(hint)}</p>
        <form method="post" action="/buy/${id}"><button>Buy<span class="unseen"> ${safe(name)}</span></button></form>
      </li>`;
  const row = ({ id, product, amount_rub, state }: Order) => `
      <li><a href="/orders/${id}">${safe(product)}</a> <span>${rub(amount_rub)}</span>
        <span class="badge ${state}">${words[state]}</span></li>`;
  const last =
    newest.length === 0 ? '' : `<h2>Last orders</h2><ul class="orders">${newest.map(row).join('')}</ul>`;
  return page(
    'The kopeck shop',
    `<h1>What would you like?</h1><ul class="products">${products.map(card).join('')}</ul>${last}`,
  );
}

export function orderPage({ id, product, amount_rub, qr_url }: Order): string {
  return page(
    product,
    `    <article class="order" data-order="${id}">
      <figure>
        <div class="qr" role="img" aria-label="QR code of the bill">${renderSVG(qr_url, { border: 2 })}</div>
        <figcaption>The bill, as the cash register shows it</figcaption>
      </figure>
      <section>
        <h1>${safe(product)}</h1>
        <p class="price">${rub(amount_rub)} <small id="usdt"></small></p>
        <p><strong id="state" class="badge" role="status"></strong></p>
        <p id="advice"></p>
        <p class="buttons">
          <button id="pay" hidden>Pay</button>
          <button id="hurry" class="quiet" hidden>Skip the 30 seconds</button>
          <a id="again" href="/" hidden>Back to the shop</a>
        </p>
        <ol id="history" aria-label="What has happened"></ol>
        <p class="hint" id="payment"></p>
        <noscript>This page needs JavaScript to show the state of your order.</noscript>
      </section>
    </article>
    <script type="module" src="/order.js"></script>`,
  );
}
