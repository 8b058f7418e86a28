import { type Html, html, type Part } from './html.ts';

/** The first page of the documentation. */
export const homePage = (botName: string | undefined): Html => html`<h1>Documentation</h1>
<p>With the Kopeck partner API you pay QR codes of the Russian Faster Payment System (SBP) in rubles from a USDT balance. You send the
link of a QR code; the service pays it, debits your balance once, and sends you the outcome as a webhook.</p>
<ul class="cards">
${card('/docs/guides/first-payment', 'First payment', 'Pay a QR code with a test key in a few minutes. Nothing goes to a bank.')}${card('/docs/guides/', 'Guides', 'Payments in processing, webhooks, test mode, reconciling and going live.')}${card('/docs/reference/', 'API reference', 'Every operation with its fields, examples in five languages, and errors.')}${card('/docs/library', 'Client library', 'For TypeScript, Python and PHP: retries that never pay twice, paging, webhooks.')}</ul>
<h2 id="in-short">In short</h2>
<ol>
<li>Get a test key in ${botLink(botName)}, and send it as <code>Authorization: Bearer svc_test_…</code>.</li>
<li>Pay with <a href="/docs/reference/create-payment"><code>POST /v1/payments</code></a> and an <code>Idempotency-Key</code> of your own per payment. If you do not know the outcome, repeat the same request with the same key.</li>
<li>Complete the order when the payment has <code>succeeded</code>. While it is <code>processing</code>, <a href="/docs/guides/processing">do not pay again and do not refund</a>.</li>
<li>Receive the outcome as a <a href="/docs/guides/webhooks">webhook</a>, and <a href="/docs/guides/errors">handle errors</a> by their code.</li>
</ol>
<h2 id="for-programs">For programs</h2>
<p>The API as an OpenAPI 3.1 document: <a href="/openapi.json">/openapi.json</a>. What changed: <a href="/docs/changelog">changelog</a>.</p>
`;

/** The Telegram bot in which partners sign up and create keys. */
export const botLink = (name: string | undefined): Part =>
  name === undefined
    ? "the service's Telegram bot (ask your contact at the service for its name)"
    : html`the Telegram bot <a href="https://t.me/${name}">@${name}</a>`;

const card = (
  path: string,
  title: string,
  text: string,
) => html`<li><a href="${path}">${title}</a><p>${text}</p></li>
`;
