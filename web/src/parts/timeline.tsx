import type { ReactNode } from 'react';
import type { TimelineItem } from '../../../src/web/shapes.ts';
import { faultTexts } from '../texts/faults.ts';
import { useLanguage, useTexts, wordIn } from '../texts/language.ts';
import { amountIn, Duration, Time } from './values.tsx';

const signs = { good: '✓', bad: '✕', open: '◔' };

interface TimelineProps<Item> {
  items: Item[];
  whatOf: (item: Item) => ReactNode;
  /** The facts of an item in one line. */
  factsOf: (facts: TimelineItem<string>['facts']) => string;
  moreOf?: (item: Item) => ReactNode;
}

/** What has happened to a payment, the oldest first. */
export const Timeline = <Item extends TimelineItem<string>>(props: TimelineProps<Item>) => (
  <ol className="timeline">
    {props.items.map((item, index) => {
      const facts = props.factsOf(item.facts);
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: the timeline only grows, and two items may have the same time
        <li key={index} className={`timeline-${item.outcome ?? 'plain'}`}>
          <span className="timeline-sign" aria-hidden="true">
            {item.outcome ? signs[item.outcome] : '•'}
          </span>
          <div className="timeline-body">
            <div className="timeline-line">
              <span className="timeline-what">{props.whatOf(item)}</span>
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
            {props.moreOf?.(item)}
          </div>
        </li>
      );
    })}
  </ol>
);

interface FactWords {
  errors: Record<string, string>;
  named: Record<string, (value: string) => string>;
  /** Of the facts whose values are codes. */
  values?: Record<string, string>;
}

const coded = new Set(['result', 'kind', 'outcome', 'status', 'why']);

/** Puts the facts of an item into one line. */
export function useFactLine({ errors, named, values = {} }: FactWords, amounts: string[]) {
  const faults = useTexts(faultTexts);
  const language = useLanguage();
  const valueIn = (name: string, value: string) => {
    if (name === 'error') return wordIn(faults, value);
    if (name === 'error_code') return wordIn(errors, value);
    if (amounts.includes(name)) return amountIn(language, value);
    return coded.has(name) ? wordIn(values, value) : value;
  };
  return (facts: TimelineItem<string>['facts']): string =>
    Object.entries(facts)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => named[name]?.(valueIn(name, `${value}`)) ?? valueIn(name, `${value}`))
      .join(', ');
}
