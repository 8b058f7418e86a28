import { ascending, formatRate } from '../../base/money.ts';
import {
  type Align,
  type Canvas,
  type Colour,
  createCanvas,
  drawDot,
  drawLines,
  drawText,
  encodeCanvas,
  type Line,
  type Point,
  tintColumn,
} from './canvas.ts';
import { capitalHeight, isPrintable, layOut } from './font.ts';

export interface RatePoint {
  at: Date;
  rateE4: bigint;
}

const background: Colour = [255, 255, 255];
const ink: Colour = [31, 41, 55];
const faintInk: Colour = [107, 114, 128];
const grid: Colour = [229, 231, 235];
const accent: Colour = [37, 99, 235];
const tintShare = 0.09;
const gridLines = 5;

/** A PNG of how the rate went. A title that cannot be written is left out: captions carry text anyway. */
export function drawRateChart(
  points: RatePoint[],
  { title, width = 800, height = 400 }: { title: string; width?: number; height?: number },
): Buffer {
  const canvas = createCanvas(width, height, background);
  const inOrder = points.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const frame = frameOf(canvas, inOrder);
  if (fits(title, frame)) write(canvas, frame, title, { x: frame.margin, y: frame.margin }, 'left', ink);
  if (inOrder.length === 0) write(canvas, frame, 'no data', middleOf(frame), 'centre', faintInk);
  else drawRates(canvas, frame, inOrder);
  return encodeCanvas(canvas);
}

/** Where things go. Everything grows with the picture, so that it reads the same in any size. */
interface Frame {
  cell: number;
  margin: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

function frameOf({ width, height }: Canvas, points: RatePoint[]): Frame {
  const cell = Math.min(width / 400, height / 200);
  const margin = 9 * cell;
  const widestRate = Math.max(0, ...extremes(points).map(rate => layOut(formatRate(rate)).width));
  return {
    cell,
    margin,
    left: margin + (widestRate + 6) * cell,
    right: width - margin - 2 * cell,
    top: margin + (capitalHeight + 17) * cell,
    bottom: height - margin - (capitalHeight + 9) * cell,
  };
}

/** The font has all its letters, and there is room left for the last rate beside it. */
const fits = (title: string, { cell, left, right }: Frame) =>
  isPrintable(title) && layOut(title).width * cell <= right - left;

/** The least and the greatest rate; of no points, none. */
function extremes(points: RatePoint[]): bigint[] {
  const rates = ascending(points.map(({ rateE4 }) => rateE4));
  return [...rates.slice(0, 1), ...rates.slice(-1)];
}

function drawGrid(canvas: Canvas, { left, right, top, bottom, cell }: Frame): void {
  const lines = Array.from({ length: gridLines }, (_, index): Line => {
    // On the middle of a row of pixels, where a thin line is sharp.
    const y = Math.floor(top + ((bottom - top) * index) / (gridLines - 1)) + 0.5;
    return [
      { x: left, y },
      { x: right, y },
    ];
  });
  drawLines(canvas, lines, cell / 2, grid);
}

function drawRates(canvas: Canvas, frame: Frame, points: RatePoint[]): void {
  const path = pathOf(frame, points);
  const last = path.at(-1)!;
  drawGrid(canvas, frame);
  tintBelow(canvas, frame, path);
  drawLines(canvas, linesAlong(path), 1.2 * frame.cell, accent);
  drawDot(canvas, last, 6 * frame.cell, background);
  drawDot(canvas, last, 4 * frame.cell, accent);
  labelRates(canvas, frame, points);
  labelTimes(canvas, frame, points);
}

/** One moment and one rate have no extent to spread over; they stand in the middle. */
function pathOf({ left, right, top, bottom }: Frame, points: RatePoint[]): Point[] {
  const [min, max] = extremes(points) as [bigint, bigint];
  const [start, end] = [points[0]!.at.getTime(), points.at(-1)!.at.getTime()];
  const share = (part: number, whole: number) => (whole === 0 ? 0.5 : part / whole);
  return points.map(({ at, rateE4 }) => ({
    x: left + (right - left) * share(at.getTime() - start, end - start),
    y: bottom - (bottom - top) * share(Number(rateE4 - min), Number(max - min)),
  }));
}

const linesAlong = (path: Point[]) => path.slice(1).map((point, index): Line => [path[index]!, point]);

function tintBelow(canvas: Canvas, { bottom }: Frame, path: Point[]): void {
  for (const [from, to] of linesAlong(path))
    for (let x = Math.ceil(from.x); x < to.x; x++) {
      const top = from.y + ((to.y - from.y) * (x - from.x)) / (to.x - from.x);
      tintColumn(canvas, x, top, bottom, accent, tintShare);
    }
}

/** The extremes beside their grid lines, and the last rate, which is the one that counts, above all. */
function labelRates(canvas: Canvas, frame: Frame, points: RatePoint[]): void {
  const { left, right, top, bottom, margin, cell } = frame;
  const [min, max] = extremes(points) as [bigint, bigint];
  const label = (rateE4: bigint, y: number) =>
    write(
      canvas,
      frame,
      formatRate(rateE4),
      { x: left - 6 * cell, y: y - (capitalHeight / 2) * cell },
      'right',
      faintInk,
    );
  if (min === max) label(min, middleOf(frame).y);
  else {
    label(max, top);
    label(min, bottom);
  }
  write(canvas, frame, formatRate(points.at(-1)!.rateE4), { x: right, y: margin }, 'right', accent);
}

function labelTimes(canvas: Canvas, frame: Frame, points: RatePoint[]): void {
  const [first, last] = [points[0]!, points.at(-1)!].map(({ at }) => formatTime(at)) as [string, string];
  const y = frame.bottom + 9 * frame.cell;
  if (first === last) write(canvas, frame, first, { x: middleOf(frame).x, y }, 'centre', faintInk);
  else {
    write(canvas, frame, first, { x: frame.left, y }, 'left', faintInk);
    write(canvas, frame, last, { x: frame.right, y }, 'right', faintInk);
  }
}

const middleOf = ({ left, right, top, bottom }: Frame): Point => ({
  x: (left + right) / 2,
  y: (top + bottom) / 2,
});

/** To the minute, and with the zone said: who looks at the picture may be in another one. */
const formatTime = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function write(canvas: Canvas, { cell }: Frame, text: string, at: Point, align: Align, colour: Colour): void {
  drawText(canvas, text, at, align, cell, colour);
}
