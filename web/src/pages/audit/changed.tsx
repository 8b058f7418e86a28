import { amountIn, numberIn, percentIn, timeIn } from '../../parts/values.tsx';
import { useLanguage, useShared, useTexts, wordIn } from '../../texts/index.ts';
import { texts as overviewTexts } from '../overview.texts.ts';
import { texts } from './texts.ts';

type Flat = Record<string, string>;

/** `{limits: {max: 1}}` becomes `limits.max`, so that a change reads as a line. */
function flatten(value: unknown, path = '', into: Flat = {}): Flat {
  if (value === null || value === undefined) {
    if (path) into[path] = '—';
  } else if (Array.isArray(value) && value.every(one => typeof one !== 'object')) {
    into[path] = value.join(', ') || '—';
  } else if (typeof value === 'object') {
    for (const [name, inner] of Object.entries(value)) flatten(inner, path ? `${path}.${name}` : name, into);
  } else into[path] = `${value}`;
  return into;
}

const lastOf = (path: string) => path.slice(path.lastIndexOf('.') + 1);

/** The name of a field; one without a text as readable words: `newName` and `new_name` as `new name`. */
const nameIn = (names: Record<string, string>, path: string) =>
  names[lastOf(path)] ??
  path
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .replaceAll('.', ': ')
    .toLowerCase();

/** Plain numbers; other digits may be an id. */
const counts = new Set([
  'concurrent',
  'createBurst',
  'createRps',
  'entries',
  'events',
  'findings',
  'otherRps',
  'rows',
  'sessions',
]);

/** What people have written. */
const free = new Set(['reason', 'name', 'reference', 'url']);

/** A value as readers write it: amounts, percents, times and codes. */
function useValueIn(): (path: string, value: string) => string {
  const { values } = useTexts(texts);
  const { kinds } = useTexts(overviewTexts);
  const { subjects } = useShared();
  const language = useLanguage();
  return (path, value) => {
    const name = lastOf(path);
    if (value === '—' || free.has(name)) return value;
    if (name.endsWith('usdt')) return `${amountIn(language, value)} USDT`;
    if (name.endsWith('_rub')) return `${amountIn(language, value)} ₽`;
    if (name.toLowerCase().endsWith('kopecks')) return `${amountIn(language, rublesOf(value))} ₽`;
    if (name === 'spread_bps') return percentIn(language, Number(value) / 100);
    if (name.endsWith('_percent')) return percentIn(language, Number(value));
    if (counts.has(name) && /^\d+$/.test(value)) return numberIn(language, Number(value));
    if (isTime(value)) return timeIn(language, value);
    const wordOf = (code: string) => values[code] ?? kinds[code] ?? wordIn(subjects, code);
    return value.split(', ').map(wordOf).join(', ');
  };
}

const rublesOf = (kopecks: string) => `${kopecks.slice(0, -2) || '0'}.${kopecks.slice(-2).padStart(2, '0')}`;

const isTime = (value: string) => value.length === 24 && value.endsWith('Z') && value[10] === 'T';

/** Only the differences, with the old value struck out. */
export function Changed({ before, after }: { before: unknown; after: unknown }) {
  const t = useTexts(texts);
  const valueIn = useValueIn();
  const [old, now] = [flatten(before), flatten(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    name => old[name] !== now[name],
  );
  if (names.length === 0) return <span className="dim">—</span>;
  const line = (name: string) => (
    <li key={name}>
      <span className="dim">{nameIn(t.fields, name) || t.value}:</span>{' '}
      {old[name] !== undefined && old[name] !== '—' && (
        <>
          <del title={t.before}>{valueIn(name, old[name])}</del>{' '}
        </>
      )}
      {now[name] !== undefined ? (
        <ins title={t.after}>{valueIn(name, now[name])}</ins>
      ) : (
        <span className="dim">{t.gone}</span>
      )}
    </li>
  );
  if (names.length <= 4) return <ul className="changed">{names.map(line)}</ul>;
  return (
    <>
      <ul className="changed">{names.slice(0, 3).map(line)}</ul>
      <details className="changed-more">
        <summary>{t.moreLines(names.length - 3)}</summary>
        <ul className="changed">{names.slice(3).map(line)}</ul>
      </details>
    </>
  );
}
