import type { TimelineItem } from '../../../src/console/shapes/payments.ts';
import { actorName, amountIn, Duration, Time } from '../parts/values.tsx';
import { faultTexts } from '../texts/faults.ts';
import { useLanguage, useShared, useTexts, wordIn } from '../texts/index.ts';
import { texts } from './payment.texts.ts';

const signs = { good: '✓', bad: '✕', open: '◔' };

/** Everything that has happened to a payment, the oldest first. */
export function Timeline({ items }: { items: TimelineItem[] }) {
  return (
    <ol className="timeline">
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the timeline only grows, and two items may have the same time
        <li key={index} className={`timeline-${item.outcome ?? 'plain'}`}>
          <span className="timeline-sign" aria-hidden="true">
            {item.outcome ? signs[item.outcome] : '•'}
          </span>
          <Item item={item} />
        </li>
      ))}
    </ol>
  );
}

function Item({ item }: { item: TimelineItem }) {
  const t = useTexts(texts);
  const { actors } = useShared();
  const facts = useFactLine()(item.facts);
  return (
    <div className="timeline-body">
      <div className="timeline-line">
        <span className="timeline-what">
          <span className="timeline-kind">{t.kinds[item.kind]}</span>
          <strong>{wordIn(t.what, item.what)}</strong>
          {item.actor && <span className="dim">{t.by(wordIn(actors, actorName(item.actor)))}</span>}
        </span>
        <span className="timeline-when dim">
          {item.duration_ms !== null && (
            <>
              <Duration ms={item.duration_ms} /> ·{' '}
            </>
          )}
          <Time at={item.at} as="clock" />
        </span>
      </div>
      {facts && <p className="dim wrap-anywhere">{facts}</p>}
      {item.gateway_call && (
        <details className="gateway-call">
          <summary>{t.show}</summary>
          <h3>{t.request}</h3>
          <pre>{pretty(item.gateway_call.request)}</pre>
          <h3>{t.response}</h3>
          {item.gateway_call.response === null ? (
            <p className="dim">{t.noResponse}</p>
          ) : (
            <pre>{pretty(item.gateway_call.response)}</pre>
          )}
        </details>
      )}
    </div>
  );
}

/** Facts whose values are codes. */
const coded = new Set(['result', 'kind', 'outcome', 'status', 'why']);

/** The facts of an item in one line. */
export function useFactLine(): (facts: TimelineItem['facts']) => string {
  const t = useTexts(texts);
  const faults = useTexts(faultTexts);
  const language = useLanguage();
  const valueIn = (name: string, value: string) => {
    if (name === 'error') return wordIn(faults, value);
    if (name === 'error_code') return wordIn(t.errors, value);
    if (name === 'usdt') return amountIn(language, value);
    return coded.has(name) ? wordIn(t.values, value) : value;
  };
  const factIn = (name: string, value: string) =>
    t.named[name]?.(valueIn(name, value)) ?? valueIn(name, value);
  return facts =>
    Object.entries(facts)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => factIn(name, `${value}`))
      .join(', ');
}

/** JSON is indented; anything else, and JSON with numbers that would lose digits, is shown as it is. */
function pretty(text: string): string {
  const start = text.indexOf('{');
  if (start < 0) return text;
  try {
    const laidOut = JSON.stringify(JSON.parse(text.slice(start)), null, 2);
    const isSame = laidOut.replace(/\s/g, '') === text.slice(start).replace(/\s/g, '');
    return isSame ? text.slice(0, start) + laidOut : text;
  } catch {
    return text;
  }
}
