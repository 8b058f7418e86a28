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
  width?: number;
  height?: number;
}

/** System fonts differ between machines and are often missing on servers, so the font is a dependency. */
const fontFile = createRequire(import.meta.url).resolve(
  '@expo-google-fonts/pt-mono/400Regular/PTMono_400Regular.ttf',
);
const font = { loadSystemFonts: false, fontFiles: [fontFile], defaultFontFamily: 'PT Mono' };

/** Of PT Mono, as shares of the font size. All its characters have one width, so text is measured by counting. */
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

function rateChartSvg(points: RatePoint[], options: ChartOptions): string {
  const { title, width = 800, height = 400 } = options;
  const inOrder = points.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const frame = frameOf(width, height, inOrder, options.formatRate);
  const { unit, margin, fontSize, left, right } = frame;
  const isTitleShort = widthOf(title, fontSize) <= right - left;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-size="${fontSize}">`,
    `<rect width="${width}" height="${height}" fill="${background}"/>`,
    isTitleShort ? textAt(title, margin, margin + 7 * unit, 'start', ink) : '',
    ...(inOrder.length === 0 ? [noData(frame)] : ratesSvg(frame, inOrder)),
    '</svg>',
  ].join('\n');
}

/** Positions and sizes in pixels, and how rates are written. Everything scales with the picture, so it looks the same in any size. */
interface Frame extends Pick<ChartOptions, 'formatRate'> {
  unit: number;
  fontSize: number;
  margin: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

function frameOf(
  width: number,
  height: number,
  points: RatePoint[],
  formatRate: ChartOptions['formatRate'],
): Frame {
  const unit = Math.min(width / 400, height / 200);
  const fontSize = 10 * unit;
  const margin = 9 * unit;
  const widestRate = Math.max(0, ...extremes(points).map(rate => widthOf(formatRate(rate), fontSize)));
  return {
    formatRate,
    unit,
    fontSize,
    margin,
    left: margin + widestRate + 6 * unit,
    right: width - margin - 2 * unit,
    top: margin + 24 * unit,
    bottom: height - margin - 16 * unit,
  };
}

const widthOf = (text: string, fontSize: number) => [...text].length * characterWidth * fontSize;

/** The lowest and the highest rate; empty if there are no points. */
function extremes(points: RatePoint[]): bigint[] {
  const rates = ascending(points.map(({ rateE4 }) => rateE4));
  return [...rates.slice(0, 1), ...rates.slice(-1)];
}

function ratesSvg(frame: Frame, points: RatePoint[]): string[] {
  const { unit, bottom } = frame;
  const path = pathOf(frame, points);
  const [first, last] = [path[0]!, path.at(-1)!];
  const line = path.map(({ x, y }) => `${x.toFixed(2)},${y.toFixed(2)}`).join(' ');
  const dot = (radius: number, colour: string) =>
    `<circle cx="${last.x}" cy="${last.y}" r="${radius}" fill="${colour}"/>`;
  return [
    gridSvg(frame),
    `<polygon points="${first.x},${bottom} ${line} ${last.x},${bottom}" fill="${accent}" fill-opacity="0.09"/>`,
    `<polyline points="${line}" fill="none" stroke="${accent}" stroke-width="${1.2 * unit}" stroke-linejoin="round" stroke-linecap="round"/>`,
    dot(3 * unit, background),
    dot(2 * unit, accent),
    ...rateLabels(frame, points),
    ...timeLabels(frame, points),
  ];
}

function gridSvg({ left, right, top, bottom, unit }: Frame): string {
  const lines = Array.from({ length: gridLines }, (_, index) => {
    // In the middle of a row of pixels a thin line is sharp.
    const y = Math.floor(top + ((bottom - top) * index) / (gridLines - 1)) + 0.5;
    return `M${left} ${y}H${right}`;
  });
  return `<path d="${lines.join('')}" stroke="${gridColour}" stroke-width="${unit / 2}"/>`;
}

/** A single moment or a constant rate has no extent, so it is drawn in the middle. */
function pathOf({ left, right, top, bottom }: Frame, points: RatePoint[]): { x: number; y: number }[] {
  const [min, max] = extremes(points) as [bigint, bigint];
  const [start, end] = [points[0]!.at.getTime(), points.at(-1)!.at.getTime()];
  const share = (part: number, whole: number) => (whole === 0 ? 0.5 : part / whole);
  return points.map(({ at, rateE4 }) => ({
    x: left + (right - left) * share(at.getTime() - start, end - start),
    y: bottom - (bottom - top) * share(Number(rateE4 - min), Number(max - min)),
  }));
}

/** The extremes beside their grid lines, and the latest rate in the top right corner. */
function rateLabels(
  { left, right, top, bottom, margin, unit, fontSize, formatRate }: Frame,
  points: RatePoint[],
): string[] {
  const [min, max] = extremes(points) as [bigint, bigint];
  const label = (rateE4: bigint, y: number) =>
    textAt(formatRate(rateE4), left - 6 * unit, y + (capitalHeight / 2) * fontSize, 'end', faintInk);
  const latest = textAt(formatRate(points.at(-1)!.rateE4), right, margin + 7 * unit, 'end', accent);
  return min === max
    ? [label(min, (top + bottom) / 2), latest]
    : [label(max, top), label(min, bottom), latest];
}

function timeLabels({ left, right, bottom, unit }: Frame, points: RatePoint[]): string[] {
  const [first, last] = [points[0]!, points.at(-1)!].map(({ at }) => formatTime(at)) as [string, string];
  const y = bottom + 16 * unit;
  return first === last
    ? [textAt(first, (left + right) / 2, y, 'middle', faintInk)]
    : [textAt(first, left, y, 'start', faintInk), textAt(last, right, y, 'end', faintInk)];
}

const noData = ({ left, right, top, bottom }: Frame) =>
  textAt('no data', (left + right) / 2, (top + bottom) / 2, 'middle', faintInk);

/** `y` is the baseline. */
const textAt = (text: string, x: number, y: number, anchor: 'start' | 'middle' | 'end', colour: string) =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${colour}">${escapeHtml(text)}</text>`;
