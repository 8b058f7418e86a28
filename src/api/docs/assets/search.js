// Searches an index that is loaded when the field is first used.
const maxResults = 12;
const field = document.querySelector('search');
const input = document.getElementById('search');
const results = field.querySelector('.results');
const [status, list] = [results.querySelector('p'), results.querySelector('ul')];
field.hidden = false;

let index;
const loadIndex = () => {
  index ??= fetch('/docs/search.json')
    .then(response => (response.ok ? response.json() : Promise.reject(new Error(response.statusText))))
    .catch(error => {
      index = undefined;
      throw error;
    });
  return index;
};

/** As in the index. */
const wordsOf = text => text.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu) ?? [];

/** Every word must occur. A word in the heading counts more than one in the text, and a whole word more than a part. */
function rankOf({ page, heading, words }, wanted) {
  const all = words.split(' ');
  const title = (heading || page).toLowerCase();
  // Among equal ones the page comes before its sections.
  let rank = heading === '' ? 1 : 0;
  for (const word of wanted) {
    if (!all.some(one => one.includes(word))) return 0;
    rank += 1 + (all.includes(word) ? 2 : 0) + (title.includes(word) ? 6 : 0);
  }
  return rank;
}

function resultItem({ page, heading, path }) {
  const item = document.createElement('li');
  const link = Object.assign(document.createElement('a'), { href: path, textContent: heading || page });
  if (heading) link.append(Object.assign(document.createElement('small'), { textContent: ` ${page}` }));
  item.append(link);
  return item;
}

async function search() {
  const query = input.value;
  const wanted = wordsOf(query);
  results.hidden = wanted.length === 0;
  if (wanted.length === 0) return;
  let entries;
  try {
    entries = await loadIndex();
  } catch {
    status.textContent = 'The search is not available. Try again.';
    return;
  }
  // Another letter was typed meanwhile.
  if (query !== input.value) return;
  const found = entries
    .map(entry => ({ entry, rank: rankOf(entry, wanted) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank);
  const shown = found.slice(0, maxResults);
  list.replaceChildren(...shown.map(({ entry }) => resultItem(entry)));
  status.textContent =
    found.length > shown.length
      ? `${shown.length} of ${found.length} results`
      : `${found.length || 'No'} ${found.length === 1 ? 'result' : 'results'}`;
}

function close() {
  results.hidden = true;
}

input.addEventListener('focus', () => void loadIndex().catch(() => {}));
input.addEventListener('input', search);

field.addEventListener('keydown', event => {
  const stops = [input, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  if (event.key === 'Escape') {
    close();
    input.focus();
  } else if (event.key === 'Enter' && at === 0) list.querySelector('a')?.click();
  else if (event.key === 'ArrowDown') stops[Math.min(at + 1, stops.length - 1)].focus();
  else if (event.key === 'ArrowUp') stops[Math.max(at - 1, 0)].focus();
  else return;
  event.preventDefault();
});

list.addEventListener('click', close);
document.addEventListener('click', event => {
  if (!field.contains(event.target)) close();
});
document.addEventListener('keydown', event => {
  const isTyping = event.target.matches?.('input, textarea, select');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
  input.select();
});
