import { sectionsOf } from './sections.ts';

/** What `assets/search.js` searches: a section of a page, where it is, and the words in it. */
interface SearchEntry {
  page: string;
  heading: string;
  path: string;
  words: string;
}

export const searchEntriesOf = (
  { path, title }: { path: string; title: string },
  text: string,
): SearchEntry[] =>
  sectionsOf(text).map(({ id, heading, text: body }) => ({
    page: title,
    heading: id === '' ? '' : heading,
    path: id === '' ? path : `${path}#${id}`,
    words: wordsOf(`${title} ${heading} ${body}`).join(' '),
  }));

/** Each word once: the order does not matter, and the index stays small. */
const wordsOf = (text: string) => [
  ...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu)),
];
