import { createRequire } from 'node:module';
import { renderAsync } from '@resvg/resvg-js';
import { ascending } from '../../base/money.ts';
import { escapeHtml, formatTime } from '../conversation/screen.ts';

export interface RatePoint {
  at: Date;
  rateE4: bigint;
}

interface ChartOptions {
  title: string;
  /** As the reader's language writes it. */
  formatRate(rateE4: bigint): string;
}

/** System fonts differ between machines and are often missing on servers, so the font is a dependency. */
const fontFile = createRequire(import.meta.url).resolve(
  '@expo-google-fonts/pt-mono/400Regular/PTMono_400Regular.ttf',
);
const font = { loadSystemFonts: false, fontFiles: [fontFile], defaultFontFamily: 'PT Mono' };

/** Sizes of PT Mono, as shares of the font size. All its characters have one width, so text is measured by counting. */
const characterWidth = 0.6;
const capitalHeight = 0.7;

const background = '#ffffff';
const ink = '#1f2937';
const faintInk = '#6b7280';
const gridColour = '#e5e7eb';
const accent = '#2563eb';
const gridLines = 5;

/** A PNG of the rate over time. Rendering runs outside the event loop; only packing the PNG, 10 to 15 ms, does not. */
export async function drawRateChart(points: RatePoint[], options: ChartOptions): Promise<Buffer> {
  const image = await renderAsync(rateChartSvg(points, options), { font });
  return image.asPng();
}

/** In pixels. */
const width = 800;
const height = 400;
const fontSize = 20;
const margin = 18;
const right = 778;
const top = 66;
const bottom = 350;
const titleBaseline = 32;
const labelGap = 12;

function rateChartSvg(points: RatePoint[], { title, formatRate }: ChartOptions): string {
  const inOrder = points.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const widestRate = Math.max(0, ...extremes(points).map(rate => widthOf(formatRate(rate))));
  const frame = { left: margin + widestRate + labelGap, formatRate };
  const isTitleShort = widthOf(title) <= right - frame.left;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-size="${fontSize}">`,
    `<rect width="${width}" height="${height}" fill="${background}"/>`,
    isTitleShort ? textAt(title, margin, titleBaseline, 'start', ink) : '',
    ...(inOrder.length === 0 ? [noData(frame)] : ratesSvg(frame, inOrder)),
    '</svg>',
  ].join('\n');
}

/** Where the lines begin, beside the widest rate, and how rates are written. */
interface Frame extends Pick<ChartOptions, 'formatRate'> {
  left: number;
}

const widthOf = (text: string) => [...text].length * characterWidth * fontSize;

/** The lowest and the highest rate; empty if there are no points. */
function extremes(points: RatePoint[]): bigint[] {
  const rates = ascending(points.map(({ rateE4 }) => rateE4));
  return [...rates.slice(0, 1), ...rates.slice(-1)];
}

function ratesSvg(frame: Frame, points: RatePoint[]): string[] {
  const path = pathOf(frame, points);
  const [first, last] = [path[0]!, path.at(-1)!];
  const line = path.map(({ x, y }) => `${x.toFixed(2)},${y.toFixed(2)}`).join(' ');
  const dot = (radius: number, colour: string) =>
    `<circle cx="${last.x}" cy="${last.y}" r="${radius}" fill="${colour}"/>`;
  return [
    gridSvg(frame),
    `<polygon points="${first.x},${bottom} ${line} ${last.x},${bottom}" fill="${accent}" fill-opacity="0.09"/>`,
    `<polyline points="${line}" fill="none" stroke="${accent}" stroke-width="2.4" stroke-linejoin="round" stroke-linecap="round"/>`,
    dot(6, background),
    dot(4, accent),
    ...rateLabels(frame, points),
    ...timeLabels(frame, points),
  ];
}

function gridSvg({ left }: Frame): string {
  const lines = Array.from({ length: gridLines }, (_, index) => {
    // In the middle of a row of pixels a thin line is sharp.
    const y = Math.floor(top + ((bottom - top) * index) / (gridLines - 1)) + 0.5;
    return `M${left} ${y}H${right}`;
  });
  return `<path d="${lines.join('')}" stroke="${gridColour}" stroke-width="1"/>`;
}

/** A single moment or a constant rate has no extent, so it is drawn in the middle. */
function pathOf({ left }: Frame, points: RatePoint[]): { x: number; y: number }[] {
  const [min, max] = extremes(points) as [bigint, bigint];
  const [start, end] = [points[0]!.at.getTime(), points.at(-1)!.at.getTime()];
  const share = (part: number, whole: number) => (whole === 0 ? 0.5 : part / whole);
  return points.map(({ at, rateE4 }) => ({
    x: left + (right - left) * share(at.getTime() - start, end - start),
    y: bottom - (bottom - top) * share(Number(rateE4 - min), Number(max - min)),
  }));
}

/** The extremes beside their grid lines, and the latest rate in the top right corner. */
function rateLabels({ left, formatRate }: Frame, points: RatePoint[]): string[] {
  const [min, max] = extremes(points) as [bigint, bigint];
  const label = (rateE4: bigint, y: number) =>
    textAt(formatRate(rateE4), left - labelGap, y + (capitalHeight / 2) * fontSize, 'end', faintInk);
  const latest = textAt(formatRate(points.at(-1)!.rateE4), right, titleBaseline, 'end', accent);
  return min === max
    ? [label(min, (top + bottom) / 2), latest]
    : [label(max, top), label(min, bottom), latest];
}

function timeLabels({ left }: Frame, points: RatePoint[]): string[] {
  const [first, last] = [points[0]!, points.at(-1)!].map(({ at }) => formatTime(at)) as [string, string];
  const y = bottom + 32;
  return first === last
    ? [textAt(first, (left + right) / 2, y, 'middle', faintInk)]
    : [textAt(first, left, y, 'start', faintInk), textAt(last, right, y, 'end', faintInk)];
}

const noData = ({ left }: Frame) =>
  textAt('no data', (left + right) / 2, (top + bottom) / 2, 'middle', faintInk);

/** `y` is the baseline. */
const textAt = (text: string, x: number, y: number, anchor: 'start' | 'middle' | 'end', colour: string) =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${colour}">${escapeHtml(text)}</text>`;
