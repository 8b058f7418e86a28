import { namedBlock } from './code-block.ts';
import { paymentRequests, succeeded } from './examples.ts';
import { type Html, html } from './html.ts';
import type { SiteTexts } from './locale.ts';
import { paymentPicture } from './payment-picture.ts';
import { toJson } from './reference/document.ts';

/** What the landing page leads to besides the documentation. */
export interface Surroundings {
  botName?: string | undefined;
  hasPortal: boolean;
  /** Undefined: the address of a service on the reader's own machine stands in the example. */
  publicUrl?: string | undefined;
  /** The port of that service. */
  port?: number;
}

type Texts = SiteTexts['landing'];

const reliancePaths: Record<keyof Texts['reliances'], string> = {
  once: '/docs/guides/processing',
  price: '/docs/guides/locked-quotes',
  test: '/docs/guides/test-mode',
  records: '/docs/guides/reconciling',
};

/** The page at `/`: what this service is, for whom, how a payment goes, and where to go. */
export function landingPage(texts: SiteTexts, surroundings: Surroundings): Html {
  const { landing } = texts;
  const { botName } = surroundings;
  return html`<main id="content" class="landing" tabindex="-1">
<h1>${landing.heading}</h1>
<p class="lead">${landing.lead}</p>
<p class="actions"><a class="main" href="/docs/guides/first-payment">${landing.start}</a> <a href="/docs/reference/">${landing.reference}</a>${botName !== undefined && html` <a href="https://t.me/${botName}">${landing.bot}</a>`}</p>
<h2 id="audience">${landing.audience}</h2>
<ul class="cards">
${Object.values(landing.audiences).map(({ title, text }) => html`<li><strong>${title}</strong><p>${text}</p></li>\n`)}</ul>
<h2 id="way">${landing.way}</h2>
<div class="way">
${paymentPicture(landing.picture)}<ol>
${landing.steps.map(step => html`<li>${step}</li>\n`)}</ol>
</div>
<h2 id="reliance">${landing.reliance}</h2>
<ul class="cards">
${Object.entries(reliancePaths).map(([name, path]) => {
  const { title, text } = landing.reliances[name as keyof Texts['reliances']];
  return html`<li><a href="${path}">${title}</a><p>${text}</p></li>\n`;
})}</ul>
<h2 id="request">${landing.request}</h2>
<p>${landing.requestText}</p>
${namedBlock({ language: 'sh', code: firstRequest(surroundings) }, texts)}<p>${landing.answerText}</p>
${namedBlock({ language: 'json', code: toJson(succeeded) }, texts)}<h2 id="where">${landing.where}</h2>
<ul>
${linksOf(landing.links, surroundings).map(([path, { title, text }]) => html`<li><a href="${path}">${title}</a>: ${text}</li>\n`)}</ul>
</main>`;
}

function linksOf(
  { docs, library, openapi, status, portal, bot }: Texts['links'],
  { botName, hasPortal }: Surroundings,
) {
  const links: [path: string, link: typeof docs][] = [
    ['/docs/', docs],
    ['/docs/library', library],
    ['/openapi.json', openapi],
    ['/status', status],
  ];
  if (hasPortal) links.push(['/portal/', portal]);
  if (botName !== undefined) links.push([`https://t.me/${botName}`, bot]);
  return links;
}

const firstRequest = ({
  port = 8080,
  publicUrl = `http://127.0.0.1:${port}`,
}: Surroundings) => `export KOPECK_URL=${new URL(publicUrl).origin}
export KOPECK_KEY=svc_test_…
curl -sw '\\n' "$KOPECK_URL/v1/payments" -H "Authorization: Bearer $KOPECK_KEY" \\
  -H 'Content-Type: application/json' -H 'Idempotency-Key: order-42' \\
  -d '${JSON.stringify(paymentRequests.succeeded.value)}'
`;
