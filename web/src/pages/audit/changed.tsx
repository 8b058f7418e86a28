import { useTexts } from '../../texts/index.ts';
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

/** `limits.maxKopecks` and `status_detail` as readable words. */
const wordsOf = (name: string) =>
  name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .replaceAll('.', ': ')
    .toLowerCase();

/** Only the differences, with the old value struck out. */
export function Changed({ before, after }: { before: unknown; after: unknown }) {
  const t = useTexts(texts);
  const [old, now] = [flatten(before), flatten(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    name => old[name] !== now[name],
  );
  if (names.length === 0) return <span className="dim">—</span>;
  const line = (name: string) => (
    <li key={name}>
      <span className="dim">{wordsOf(name) || t.value}:</span>{' '}
      {old[name] !== undefined && old[name] !== '—' && (
        <>
          <del title={t.before}>{old[name]}</del>{' '}
        </>
      )}
      {now[name] !== undefined ? (
        <ins title={t.after}>{now[name]}</ins>
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
