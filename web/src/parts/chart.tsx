import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { useCommon } from '../texts/common.ts';
import { useLanguage } from '../texts/language.ts';
import { amountIn, numberIn } from './values.tsx';
import { wallClockIn, zoneName } from './zone.ts';
import { useZone } from './zone-context.ts';

interface Series {
  label: string;
  values: (number | null)[];
  /** A variable of styles/theme.css: `--chart-1` … `--chart-4`. */
  colour: string;
  dash?: number[];
  fill?: boolean;
}

interface ChartProps {
  title: string;
  /** ISO times, the oldest first. */
  at: string[];
  series: Series[];
  height?: number;
  /** Digits after the point. */
  digits?: number;
  /** The axis starts at zero. */
  fromZero?: boolean;
}

/** Lines over time, in the zone of the page. Screen readers get the latest, lowest and highest values. */
export function Chart({ title, at, series, height = 180, digits = 0, fromZero = true }: ChartProps) {
  const t = useCommon();
  const language = useLanguage();
  const pageZone = useZone();
  // A point that stands for a day has its date, whatever the zone in which it was that day.
  const zone = areDays(at) ? 'UTC' : pageZone;
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false });
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  /** The point under the cursor; without one, the last. */
  const [shown, setShown] = useState<number | null>(null);
  const data = useMemo<uPlot.AlignedData>(
    () => [at.map(one => Date.parse(one) / 1000), ...series.map(one => one.values)],
    [at, series],
  );
  const latest = useRef(data);
  latest.current = data;
  const shape = JSON.stringify(
    series.map(({ label, colour, dash, fill }) => ({ label, colour, dash, fill })),
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: a canvas takes its colours once, so it is drawn anew with the scheme
  useEffect(() => {
    const div = frame.current;
    if (!div) return;
    const style = getComputedStyle(div);
    const of = (name: string) => style.getPropertyValue(name).trim();
    const axis: uPlot.Axis = {
      stroke: of('--dim'),
      font: '11px system-ui, sans-serif',
      grid: { stroke: of('--line'), width: 1 },
      ticks: { show: false },
    };
    const lines = JSON.parse(shape) as Omit<Series, 'values'>[];
    const dayOf = (sec: number) => dayIn(language, zone, sec);
    const clockOf = (sec: number) => clockIn(zone, sec);
    const drawn = new uPlot(
      {
        width: div.clientWidth,
        height,
        tzDate: sec => uPlot.tzDate(new Date(sec * 1000), zone),
        scales: {
          // With a single point uPlot would stretch the axis over years.
          x: { range: (_, min, max) => [Math.min(min, max - leastSec), max] },
          y: fromZero ? { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } : {},
        },
        cursor: { drag: { x: false, y: false }, points: { size: 6 } },
        legend: { show: false },
        padding: [8, 20, 0, 0],
        hooks: { setCursor: [({ cursor }) => setShown(cursor.idx ?? null)] },
        axes: [
          {
            ...axis,
            size: 28,
            space: 60,
            values: (_, ticks) => ticks.map(isLong(latest.current[0]) ? dayOf : clockOf),
          },
          {
            ...axis,
            // As wide as the longest number.
            size: (_: uPlot, labels: string[] | null) =>
              Math.max(46, ...(labels ?? []).map(one => one.length * 7 + 12)),
            // No ticks between whole numbers.
            ...(digits === 0 ? { incrs: wholeSteps } : {}),
            values: (_, ticks) => ticks.map(tick => numberIn(language, tick, Math.max(digits, 0))),
          },
        ],
        series: [
          {},
          ...lines.map(line => ({
            label: line.label,
            stroke: of(line.colour),
            width: 1.75,
            points: { show: false, filter: (self: uPlot, nth: number) => lonePoints(self.data[nth]!) },
            ...(line.dash ? { dash: line.dash } : {}),
            ...(line.fill ? { fill: `color-mix(in srgb, ${of(line.colour)} 14%, transparent)` } : {}),
          })),
        ],
      },
      latest.current,
      div,
    );
    plot.current = drawn;
    const watch = new ResizeObserver(() => drawn.setSize({ width: div.clientWidth, height }));
    watch.observe(div);
    return () => {
      watch.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [scheme, language, zone, height, digits, fromZero, shape]);

  useEffect(() => plot.current?.setData(data), [data]);

  return (
    <figure className="chart">
      <ul className="legend" aria-hidden="true">
        {series.map(one => (
          <li key={one.label}>
            <svg className="legend-line" viewBox="0 0 18 4" aria-hidden="true">
              <line
                x1="0"
                y1="2"
                x2="18"
                y2="2"
                stroke={`var(${one.colour})`}
                strokeDasharray={one.dash?.join(' ')}
              />
            </svg>
            {one.label} <span className="number">{valueAt(one.values)}</span>
          </li>
        ))}
        <li className="number">
          {timeShown()} {zoneName(pageZone)}
        </li>
      </ul>
      <div ref={frame} aria-hidden="true" />
      <figcaption className="unseen">
        {title}. {series.map(one => describe(one)).join(' ')}
      </figcaption>
    </figure>
  );

  function timeShown(): string {
    const sec = data[0][shown ?? at.length - 1];
    if (sec === undefined) return '';
    if (!isLong(data[0])) return clockIn(zone, sec);
    const day = dayIn(language, zone, sec);
    return areDays(at) ? day : `${day} ${clockIn(zone, sec)}`;
  }

  function valueAt(values: (number | null)[]): string {
    const value = values[shown ?? values.length - 1];
    return value === null || value === undefined ? '—' : amountIn(language, value.toFixed(digits));
  }

  function describe({ label, values }: Series): string {
    const known = values.filter(value => value !== null);
    if (known.length === 0) return `${label}: ${t.noData}.`;
    const say = (value: number) => amountIn(language, value.toFixed(digits));
    return `${label}: ${t.latest} ${say(known.at(-1)!)}, ${t.lowest} ${say(Math.min(...known))}, ${t.highest} ${say(Math.max(...known))}.`;
  }
}

/** Of a value between gaps there is no line: it is drawn as a point. */
const lonePoints = (values: uPlot.TypedArray | (number | null | undefined)[]) =>
  Array.from(values.keys()).filter(
    nth => values[nth] != null && values[nth - 1] == null && values[nth + 1] == null,
  );

const leastSec = 600;
const wholeSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000];

const clockIn = (zone: string, sec: number) => wallClockIn(zone, sec * 1000).slice(11, 16);

const dayIn = (language: string, zone: string, sec: number) =>
  new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    day: 'numeric',
    month: 'short',
    timeZone: zone,
  }).format(sec * 1000);

/** Each point stands for a whole day. */
const areDays = (at: string[]) => at.every(one => one.endsWith('T00:00:00Z'));

/** Over more than a day and a half the axis shows days instead of times. */
const isLong = (times: ArrayLike<number>) => (times[times.length - 1] ?? 0) - (times[0] ?? 0) > 36 * 3600;
