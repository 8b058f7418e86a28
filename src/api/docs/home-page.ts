import { type Html, html, type Part } from './html.ts';
import type { SiteTexts } from './locale.ts';

const cardPaths: Record<keyof SiteTexts['home']['cards'], string> = {
  firstPayment: '/docs/guides/first-payment',
  guides: '/docs/guides/',
  reference: '/docs/reference/',
  library: '/docs/library',
};

/** The first page of the documentation. */
export function homePage(texts: SiteTexts, botName: string | undefined): Html {
  const { title, lead, inShort, steps, forPrograms, programs } = texts.home;
  return html`<h1>${title}</h1>
<p>${lead}</p>
${startCards(texts)}<h2 id="in-short">${inShort}</h2>
<ol>
${steps(botLink(texts, botName)).map(step => html`<li>${step}</li>\n`)}</ol>
<h2 id="for-programs">${forPrograms}</h2>
<p>${programs}</p>
`;
}

/** What answers for a path of the documentation where nothing is. */
export const missingPage = (texts: SiteTexts): Html => html`<h1>${texts.notFound.title}</h1>
<p>${texts.notFound.lead}</p>
${startCards(texts)}`;

/** Where a reader may start. */
const startCards = ({ home: { cards } }: SiteTexts) => html`<ul class="cards">
${Object.entries(cardPaths).map(([name, path]) => {
  const { title, text } = cards[name as keyof typeof cards];
  return html`<li><a href="${path}">${title}</a><p>${text}</p></li>\n`;
})}</ul>
`;

/** The Telegram bot in which partners sign up and create keys. */
const botLink = ({ bot }: SiteTexts, name: string | undefined): Part =>
  name === undefined ? bot.unnamed : bot.named(html`<a href="https://t.me/${name}">@${name}</a>`);
