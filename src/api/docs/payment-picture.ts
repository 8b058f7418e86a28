import { type Html, html } from './html.ts';
import type { SiteTexts } from './locale.ts';

type Texts = SiteTexts['landing']['picture'];

/** The middles of the three columns. */
const [program, kopeck, bank] = [70, 220, 370];

/** The way of a payment between the partner's program, this service and the bank, from the top to the bottom. */
export const paymentPicture = ({ label, ...texts }: Texts): Html =>
  html`<svg class="picture" viewBox="0 0 440 340" role="img" aria-label="${label}">
${[program, kopeck, bank].map(x => html`<path class="column" d="M${x} 44V330"/>\n`)}${box(program, 8, texts.program)}${box(kopeck, 8, 'Kopeck')}${box(bank, 8, texts.bank)}${arrow(program, kopeck, 84, 'POST /v1/payments')}${box(kopeck, 102, texts.hold)}${arrow(kopeck, bank, 172, texts.pay)}${arrow(bank, kopeck, 212, texts.outcome)}${box(kopeck, 230, texts.debit)}${arrow(kopeck, program, 304, 'payment.succeeded')}</svg>
`;

const halfWidth = 68;

const box = (x: number, y: number, text: string) =>
  html`<rect x="${x - halfWidth}" y="${y}" width="${2 * halfWidth}" height="36" rx="6"/><text x="${x}" y="${y + 23}">${text}</text>
`;

function arrow(from: number, to: number, y: number, text: string): Html {
  const back = to > from ? -8 : 8;
  return html`<path class="arrow" d="M${from} ${y}H${to}m${back} -5l${-back} 5l${back} 5"/><text x="${(from + to) / 2}" y="${y - 7}">${text}</text>
`;
}
