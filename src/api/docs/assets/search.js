// Searches an index that is loaded when the field is first used.
import { createSearch, wordsOf } from './ranking.js';

const maxResults = 12;
const field = document.querySelector('search');
const texts = field.dataset;
const input = document.getElementById('search');
const results = field.querySelector('.results');
const [status, list] = [results.querySelector('p'), results.querySelector('ul')];
field.hidden = false;

let loaded;
/** What finds entries of the index. */
const loadSearch = () => {
  loaded ??= fetch(field.dataset.index)
    .then(response => (response.ok ? response.json() : Promise.reject(new Error(response.statusText))))
    .then(createSearch)
    .catch(error => {
      loaded = undefined;
      throw error;
    });
  return loaded;
};

function resultItem({ page, heading, path }) {
  const item = document.createElement('li');
  const link = Object.assign(document.createElement('a'), { href: path, textContent: heading || page });
  if (heading) link.append(Object.assign(document.createElement('small'), { textContent: ` ${page}` }));
  item.append(link);
  return item;
}

async function search() {
  const query = input.value;
  results.hidden = wordsOf(query).length === 0;
  if (results.hidden) return;
  let find;
  try {
    find = await loadSearch();
  } catch {
    status.textContent = texts.failed;
    return;
  }
  // Another letter was typed meanwhile.
  if (query !== input.value) return;
  const found = find(query);
  const shown = found.slice(0, maxResults);
  list.replaceChildren(...shown.map(resultItem));
  const text = found.length === 0 ? texts.none : found.length > shown.length ? texts.foundMore : texts.found;
  status.textContent = text.replace('{found}', found.length).replace('{shown}', shown.length);
}

function close() {
  results.hidden = true;
}

input.addEventListener('focus', () => void loadSearch().catch(() => {}));
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
