import type { Assets } from './assets.ts';
import { html } from './html.ts';
import { shell } from './layout.ts';

const links: [path: string, title: string, text: string][] = [
  ['/docs/', 'Documentation', 'guides and API reference, with search'],
  ['/docs/guides/first-payment', 'First payment', 'pay a QR code with a test key, step by step'],
  ['/docs/reference/', 'API reference', 'every operation, field and error'],
  ['/openapi.json', 'OpenAPI document', 'the API for your tools, as JSON'],
  ['/healthz', 'Health', 'whether this process runs; /readyz says whether it accepts payments'],
];

/** The page at `/`: what this service is, and where to go. */
export const landingPage = (assets: Assets, botName: string | undefined) =>
  shell(
    {
      title: 'Kopeck',
      description: 'Kopeck pays SBP QR codes in rubles from a USDT balance',
      content: html`<main id="content" class="landing" tabindex="-1">
<h1>Kopeck</h1>
<p>Kopeck pays QR codes of the Russian Faster Payment System (SBP) in rubles from a USDT balance. Partners send the link of a QR code to
its API; it pays the code once, debits the balance, and reports the outcome as a signed webhook. With a test key you can try everything
without money.</p>
<ul>
${links.map(([path, title, text]) => html`<li><a href="${path}">${title}</a>: ${text}</li>\n`)}${botName && html`<li><a href="https://t.me/${botName}">Telegram bot</a>: sign up, create keys, set webhooks</li>\n`}</ul>
</main>`,
    },
    assets,
  );
