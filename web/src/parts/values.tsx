import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useCommon } from '../texts/common.ts';
import { useLanguage } from '../texts/language.ts';
import { Icon } from './icon.tsx';
import { dayIn, zoneName } from './zone.ts';
import { useZone } from './zone-context.ts';

/** Amounts stay text from the database to the screen: a number would lose digits. */
export function amountIn(language: string, amount: string): string {
  const digits = amount.split('.')[1]?.length ?? 0;
  const formatter = new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return formatter.format(amount as Intl.StringNumericLiteral);
}

/** An amount to be edited: with the decimal separator of the language, without groups. */
export const editableIn = (language: string, amount: string): string =>
  language === 'ru' ? amount.replace('.', ',') : amount;

/** A number as it was typed, with the separators of either language, as the server reads it. */
export const clean = (text: string) => text.replaceAll(/[\s\u00a0]/g, '').replace(',', '.');

export const numberIn = (language: string, value: number, digits = 0): string =>
  new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);

export const percentIn = (language: string, percent: number): string =>
  new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 }).format(percent / 100);

interface MoneyProps {
  amount: string | null | undefined;
  /** Without the unit, where the column header has it. */
  bare?: boolean;
}

export function Rub({ amount, bare = false }: MoneyProps) {
  const language = useLanguage();
  if (amount === null || amount === undefined) return <span className="dim">—</span>;
  return (
    <span className="number">
      {amountIn(language, amount)}
      {!bare && <span className="unit"> ₽</span>}
    </span>
  );
}

/** `cents` shows two decimal places; the title has all of them. */
export function Usdt({ amount, bare = false, cents = false }: MoneyProps & { cents?: boolean }) {
  const language = useLanguage();
  if (amount === null || amount === undefined) return <span className="dim">—</span>;
  const shown = cents ? amount.replace(/(\.\d\d)\d+$/, '$1') : amount;
  return (
    <span className="number" title={cents ? amount : undefined}>
      {amountIn(language, shown)}
      {!bare && <span className="unit"> USDT</span>}
    </span>
  );
}

/** Rubles for one USDT. */
export function Rate({ rate }: { rate: string | null | undefined }) {
  const language = useLanguage();
  return <span className="number">{rate ? amountIn(language, rate) : '—'}</span>;
}

export function Count({ value, digits = 0 }: { value: number | null; digits?: number }) {
  const language = useLanguage();
  return <span className="number">{value === null ? '—' : numberIn(language, value, digits)}</span>;
}

export function Percent({ share }: { share: number | null }) {
  const language = useLanguage();
  if (share === null) return <span className="number">—</span>;
  const formatter = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
  // 99.96 % must not be shown as 100 %.
  return <span className="number">{formatter.format(share < 1 ? Math.min(share, 0.999) : share)}</span>;
}

const kept = new Map<string, Intl.DateTimeFormat>();

function format(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = language + JSON.stringify(options);
  const known = kept.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    hourCycle: 'h23',
    ...options,
  });
  kept.set(key, made);
  return made;
}

const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit' };
const date: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' };
const dayAndClock: Intl.DateTimeFormatOptions = {
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
};

interface TimeProps {
  at: string | null | undefined;
  /** `short` leaves out what a list does not need; `clock` has the time of day only. */
  as?: 'full' | 'short' | 'clock';
}

/** A time in the zone of the page; the reader's own time is in the title. */
export function Time({ at, as = 'full' }: TimeProps) {
  const language = useLanguage();
  const t = useCommon();
  const zone = useZone();
  if (!at) return <span className="dim">—</span>;
  const when = new Date(at);
  const local = format(language, { ...date, ...clock, timeZoneName: 'short' }).format(when);
  const isToday = dayIn(zone, when.getTime()) === dayIn(zone);
  const options = as === 'full' ? { ...date, ...clock } : as === 'clock' || isToday ? clock : dayAndClock;
  return (
    <time dateTime={at} title={`${local} (${t.local})`} className="number">
      {format(language, { ...options, timeZone: zone }).format(when)}
      {as === 'full' && <span className="dim"> {zoneName(zone, when.getTime())}</span>}
    </time>
  );
}

/** A time as text, such as `9 May 2026, 12:00:00 UTC`. */
export function timeIn(language: string, at: string, zone = 'UTC'): string {
  const when = new Date(at);
  const text = format(language, { ...date, ...clock, timeZone: zone }).format(when);
  return `${text} ${zoneName(zone, when.getTime())}`;
}

/** The day in UTC. */
export const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** A day, such as `2026-05-09`. */
export function Day({ day }: { day: string }) {
  const language = useLanguage();
  return (
    <time dateTime={day} className="number">
      {format(language, { ...date, timeZone: 'UTC' }).format(new Date(day))}
    </time>
  );
}

/** How long something took or lasts: `84 ms`, `3.2 s`, `5 min`, `2 h 10 min`, `3 d`. */
export function durationIn(language: string, ms: number): string {
  const unit = (value: number, name: string, digits = 0) =>
    new Intl.NumberFormat(language, { style: 'unit', unit: name, maximumFractionDigits: digits }).format(
      value,
    );
  if (ms < 1000) return unit(Math.round(ms), 'millisecond');
  const sec = ms / 1000;
  if (sec < 10) return unit(sec, 'second', 1);
  if (sec < 60) return unit(Math.floor(sec), 'second');
  const min = Math.floor(sec / 60);
  if (min < 60) return unit(min, 'minute');
  const hours = Math.floor(min / 60);
  if (hours < 24)
    return min % 60 ? `${unit(hours, 'hour')} ${unit(min % 60, 'minute')}` : unit(hours, 'hour');
  const days = Math.floor(hours / 24);
  return days < 3 && hours % 24 ? `${unit(days, 'day')} ${unit(hours % 24, 'hour')}` : unit(days, 'day');
}

export function Duration({ ms }: { ms: number | null }) {
  const language = useLanguage();
  return <span className="number">{ms === null ? '—' : durationIn(language, ms)}</span>;
}

/** How long ago, updated by itself. */
export function Ago({ at }: { at: string | null | undefined }) {
  const language = useLanguage();
  const t = useCommon();
  const zone = useZone();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span className="dim">{t.never}</span>;
  const ms = Math.max(0, now - Date.parse(at));
  return (
    <time dateTime={at} title={timeIn(language, at, zone)} className="number">
      {t.ago(durationIn(language, Math.max(1000, Math.floor(ms / 1000) * 1000)))}
    </time>
  );
}

/** Ids begin with their time, so the end is what differs. */
export const shortId = (id: string): string =>
  id.length > 18 ? `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-8)}` : id;

export const ShortId = ({ id }: { id: string }) => <code title={id}>{shortId(id)}</code>;

const pages: Record<string, string> = { pay: 'payments', prt: 'partners' };

/** A link to the payment or the partner with this id; the text, or the id, where there is no such page. */
export function IdLink({ id, text = <code>{id}</code> }: { id: string; text?: ReactNode }) {
  const page = pages[id.split('_', 1)[0]!];
  return page ? <Link href={`/${page}/${id}`}>{text}</Link> : text;
}

/** Actors are stored with their kind; for operators the kind is left out. */
export const actorName = (actor: string): string => actor.replace(/^operator:/, '');

/** A name in a cell. It wraps: two long names that were cut would look alike. */
export const Name = ({ text }: { text: string }) => <span className="name">{text}</span>;

/** A long id in a cell: both ends are shown, since either may be what differs; complete in the title. */
export const Middle = ({ text }: { text: string | null }) => {
  if (text === null) return <span className="dim">—</span>;
  const letters = [...text];
  const shown =
    letters.length > 24 ? `${letters.slice(0, 11).join('')}…${letters.slice(-12).join('')}` : text;
  return (
    <span className="name" title={text}>
      {shown}
    </span>
  );
};

/** A hash or an address on a chain: people compare its ends; complete in the title. */
export const ShortHash = ({ text }: { text: string }) => (
  <code title={text}>{text.length > 16 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text}</code>
);

/** Opens a transaction or an address in a block explorer. */
export const ExplorerLink = ({ url, children }: { url: string; children: ReactNode }) => (
  <a href={url} target="_blank" rel="noopener noreferrer" className="one-line">
    {children} <span aria-hidden="true">↗</span>
  </a>
);

/** A long text in a cell: cut to fit, complete in the title. */
export const Cut = ({ text }: { text: string | null }) =>
  text ? (
    <span className="cut" title={text}>
      {text}
    </span>
  ) : (
    <span className="dim">—</span>
  );

/** A value with a copy button, shown in full or shortened. */
export const Copyable = ({ text, short }: { text: string; short?: string }) => (
  <span className="copyable">
    <code title={short ? text : undefined}>{short ?? text}</code>
    <CopyButton text={text} label={text} />
  </span>
);

/** Copies the text; `label` says which one. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const t = useCommon();
  const [copied, setCopied] = useState(false);
  async function copy() {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  }
  return (
    <>
      <button type="button" onClick={() => void copy()} aria-label={`${t.copy}: ${label}`} title={t.copy}>
        <Icon name={copied ? 'check' : 'copy'} />
      </button>
      <span className="unseen" aria-live="polite">
        {copied ? t.copied : ''}
      </span>
    </>
  );
}
