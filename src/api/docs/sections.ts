import { unescapeHtml } from './html.ts';

export type Section = ReturnType<typeof sectionsOf>[number];

/** The parts of a rendered page, each with the heading that it begins with. */
export function sectionsOf(page: string) {
  const [, ...parts] = page.split(/<(?=h1[ >]|h[23] id=")/);
  return parts.map(part => {
    const end = part.indexOf('</h');
    return {
      level: Number(part[1]),
      /** Empty for the beginning of a page. */
      id: part.startsWith('h1') ? '' : part.slice('h2 id="'.length, part.indexOf('">')),
      heading: plainText(part.slice(part.indexOf('>') + 1, end)),
      /** Without the code blocks. */
      text: plainText(withoutCodeBlocks(`<${part.slice(end + 1)}`)),
    };
  });
}

function withoutCodeBlocks(text: string): string {
  const [before, ...parts] = text.split('<pre');
  return [before, ...parts.map(part => part.slice(part.indexOf('</pre>')))].join(' ');
}

const plainText = (text: string) =>
  unescapeHtml(text.replaceAll(/<[^<>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();

interface SearchedPage {
  path: string;
  title: string;
  /** Found as if it were in the title: `POST /v1/payments`. */
  operation?: string;
}

/** It says the same on every page of an endpoint. */
function withoutForm(text: string): string {
  const [before, form = ''] = text.split('<section class="try"');
  return before + form.slice(form.indexOf('</section>'));
}

/** What `assets/search.js` searches: the sections of a page, where each is, and the words in it. */
export const searchEntriesOf = ({ path, title, operation }: SearchedPage, text: string) =>
  sectionsOf(withoutForm(text)).map(({ id, heading, text: body }) => ({
    page: title,
    heading: id === '' ? '' : heading,
    path: id === '' ? path : `${path}#${id}`,
    words: wordsOf(`${title} ${heading} ${body}`).join(' '),
    ...(id === '' && operation !== undefined && { operation }),
  }));

/** Each word once: the order does not matter, and the index stays small. */
const wordsOf = (text: string) => [
  ...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu)),
];
