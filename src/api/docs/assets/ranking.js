// What the search finds, and in which order. Apart from the page, so that tests can call it.

/** As in the index. */
export const wordsOf = text => text.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu) ?? [];

/**
 * Of nouns and adjectives, and of verbs those that no noun has: `возврат` would lose half of its own. The longest come
 * first.
 */
const russianEndings =
  'иями ями ами ием иям иях ого его ому ему ыми ими ает яет ают яют ует уют ать ять ить ая яя ое ее ые ие ый ий ой ей ую юю ых их ым им ом ем ам ям ах ях ов ев ию ия ии ью а я о е ы и у ю ь й'.split(
    ' ',
  );
const minStem = 3;

function russianStem(word) {
  // ошибок, ошибки
  if (/[^аеиоуыэюя]ок$/.test(word) && word.length > 5) return `${word.slice(0, -2)}к`;
  const ending = russianEndings.find(end => word.endsWith(end) && word.length - end.length >= minStem);
  return ending ? word.slice(0, -ending.length) : word;
}

function englishStem(word) {
  if (word.length <= minStem) return word;
  if (/ie[sd]$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|zz|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return /[^isu]s$/.test(word) ? word.slice(0, -1) : word;
}

/** A word without its ending: `вебхуков` and `вебхуки` have one stem, `retries` and `retried` too. */
export function stemOf(word) {
  const start = word.lastIndexOf('-') + 1;
  const last = word.slice(start).replaceAll('ё', 'е');
  const stem = /^[а-я]+$/.test(last) ? russianStem(last) : /^[a-z]+$/.test(last) ? englishStem(last) : last;
  return word.slice(0, start) + stem;
}

/** Whether one letter is changed, missing or too many, or two next to each other are swapped. */
function isTypo(a, b) {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}

const minTypoWord = 4;

/** Prepares the entries of the index; returns what finds those with every word of a query, best first. */
export function createSearch(entries) {
  const prepared = entries.map(entry => ({
    entry,
    words: new Set(entry.words.split(' ')),
    stems: new Set(entry.words.split(' ').map(stemOf)),
    titleStems: wordsOf(`${entry.heading || entry.page} ${entry.operation ?? ''}`).map(stemOf),
    pageStems: wordsOf(entry.page).map(stemOf),
  }));
  const known = [...new Set(prepared.flatMap(({ stems }) => [...stems]))];

  /** The stems that a word may mean: those that contain its own; if there is none, it is taken for a typo. */
  function meaningsOf(word) {
    const stem = stemOf(word);
    const containing = known.filter(one => one.includes(stem));
    const isMisspelt = containing.length === 0 && word.length >= minTypoWord;
    return { word, stem, stems: new Set(isMisspelt ? known.filter(one => isTypo(one, stem)) : containing) };
  }

  return query => {
    const wanted = wordsOf(query).map(meaningsOf);
    return prepared
      .map(one => ({ entry: one.entry, rank: rankOf(one, wanted) }))
      .filter(({ rank }) => rank > 0)
      .sort((a, b) => b.rank - a.rank)
      .map(({ entry }) => entry);
  };
}

/** Every word must occur. A word in the heading counts more than one in the text, and a whole word more than a part. */
function rankOf({ entry, words, stems, titleStems, pageStems }, wanted) {
  // Among equal ones the page comes before its sections.
  let rank = entry.heading === '' ? 1 : 0;
  for (const { word, stem, stems: meant } of wanted) {
    const isMeant = one => meant.has(one);
    if (![...meant].some(one => stems.has(one))) return 0;
    rank += 1;
    if (stems.has(stem)) rank += 1;
    if (words.has(word)) rank += 1;
    if (titleStems.some(isMeant)) rank += 6;
    if (pageStems.some(isMeant)) rank += 2;
  }
  return rank;
}
