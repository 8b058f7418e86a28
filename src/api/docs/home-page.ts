import { type Html, html } from './html.ts';

/** The first page of the documentation. */
export const homePage = (): Html => html`<h1>Documentation</h1>
<p>With the Kopeck partner API you pay QR codes of the Russian Faster Payment System (SBP) in rubles from a USDT balance. You send the
link of a QR code; the service pays it, debits your balance once, and sends you the outcome as a webhook.</p>
<ul class="cards">
${card('/docs/guides/first-payment', 'First payment', 'Pay a QR code with a test key in a few minutes. Nothing goes to a bank.')}${card('/docs/guides/', 'Guides', 'Payments in processing, webhooks, test mode, reconciling and going live.')}${card('/docs/reference/', 'API reference', 'Every operation with its fields, examples in five languages, and errors.')}${card('/docs/library', 'Client library', 'For TypeScript and JavaScript: retries that never pay twice, paging, webhooks.')}</ul>
<h2 id="in-short">In short</h2>
<ol>
<li>Get a test key in the bot, and send it as <code>Authorization: Bearer svc_test_…</code>.</li>
<li>Pay with <a href="/docs/reference/create-payment"><code>POST /v1/payments</code></a> and an <code>Idempotency-Key</code> of your own per payment. If you do not know the outcome, repeat the same request with the same key.</li>
<li>Complete the order when the payment has <code>succeeded</code>. While it is <code>processing</code>, <a href="/docs/guides/processing">do not pay again and do not refund</a>.</li>
<li>Receive the outcome as a <a href="/docs/guides/webhooks">webhook</a>, and <a href="/docs/guides/errors">handle errors</a> by their code.</li>
</ol>
<h2 id="for-programs">For programs</h2>
<p>The API as an OpenAPI 3.1 document: <a href="/openapi.json">/openapi.json</a>. What changed: <a href="/docs/changelog">changelog</a>.</p>
`;

const card = (
  path: string,
  title: string,
  text: string,
) => html`<li><a href="${path}">${title}</a><p>${text}</p></li>
`;
