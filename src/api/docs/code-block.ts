import { highlight } from './highlight.ts';
import { type Html, html, type Part } from './html.ts';
import type { SiteTexts } from './locale.ts';

export interface Snippet {
  language: string;
  code: string;
}

/** The languages that share one group of tabs, in the order of the tabs, with the names that readers see. */
export const tabNames: Record<string, string> = {
  sh: 'curl',
  ts: 'TypeScript',
  python: 'Python',
  php: 'PHP',
  go: 'Go',
};

function nameOf(language: string, { output, shell }: SiteTexts['code']): string {
  const others: Record<string, string> = { text: output, sh: shell, json: 'JSON', js: 'JavaScript' };
  return others[language] ?? tabNames[language] ?? language;
}

/** With a tab stop, so that the keyboard can scroll what is wider than a phone. */
export const codeBlock = ({ language, code }: Snippet, label: string): Html =>
  html`<div class="code ${language}"><pre tabindex="0" role="group" aria-label="${label}"><code>${highlight(code, language)}</code></pre></div>
`;

/** Labelled with the name of its language. */
export const namedBlock = (snippet: Snippet, { code }: SiteTexts): Html =>
  codeBlock(snippet, nameOf(snippet.language, code));

/**
 * One example in several languages. Without scripts the languages stand one below the other under headings of the given
 * level; `assets/tabs.js` makes tabs of them.
 */
export function codeTabs(snippets: Snippet[], level: number): Html {
  const order = Object.keys(tabNames);
  const sorted = snippets.toSorted((a, b) => order.indexOf(a.language) - order.indexOf(b.language));
  const panels = sorted.map(snippet => {
    const name = tabNames[snippet.language]!;
    const heading = html`<h${level} class="tab-name">${name}</h${level}>`;
    return html`<div class="tab" data-language="${snippet.language}">${heading}
${codeBlock(snippet, name)}</div>
`;
  });
  return html`<div class="tabs">
${panels}</div>
`;
}

/** With a tab stop, so that the keyboard can scroll what is wider than a phone. */
export const wideTable = (
  label: string,
  headers: string[],
  rows: Part[][],
) => html`<div class="wide" tabindex="0" role="group" aria-label="${label}"><table>
<thead><tr>${headers.map(header => html`<th scope="col">${header}</th>`)}</tr></thead>
<tbody>
${rows.map(cells => html`<tr>${cells.map(cell => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>
`;
