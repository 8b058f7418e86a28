import { useEffect, useState } from 'react';
import { useCommon } from '../texts/common.ts';
import { useLanguage } from '../texts/language.ts';

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

/** A time in UTC; the reader's own time is in the title. */
export function Time({ at, as = 'full' }: TimeProps) {
  const language = useLanguage();
  const t = useCommon();
  if (!at) return <span className="dim">—</span>;
  const when = new Date(at);
  const local = format(language, { ...date, ...clock, timeZoneName: 'short' }).format(when);
  const isToday = at.slice(0, 10) === new Date().toISOString().slice(0, 10);
  const options = as === 'full' ? { ...date, ...clock } : as === 'clock' || isToday ? clock : dayAndClock;
  return (
    <time dateTime={at} title={`${local} (${t.local})`} className="number">
      {format(language, { ...options, timeZone: 'UTC' }).format(when)}
      {as === 'full' && <span className="dim"> UTC</span>}
    </time>
  );
}

/** A time as text, such as `9 May 2026, 12:00:00 UTC`. */
export const timeIn = (language: string, at: string): string =>
  `${format(language, { ...date, ...clock, timeZone: 'UTC' }).format(new Date(at))} UTC`;

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
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span className="dim">{t.never}</span>;
  const ms = Math.max(0, now - Date.parse(at));
  return (
    <time dateTime={at} title={timeIn(language, at)} className="number">
      {t.ago(durationIn(language, Math.max(1000, Math.floor(ms / 1000) * 1000)))}
    </time>
  );
}
