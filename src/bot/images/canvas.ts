import { PNG } from 'pngjs';
import { type Cell, type Glyph, layOut } from './font.ts';

export type Colour = readonly [red: number, green: number, blue: number];

export interface Point {
  x: number;
  y: number;
}

export type Line = readonly [Point, Point];

export type Canvas = PNG;

export function createCanvas(width: number, height: number, background: Colour): Canvas {
  const canvas = new PNG({ width, height });
  canvas.data.fill(Buffer.from([...background, 255]));
  return canvas;
}

/** Nothing on the canvas can be seen through, so the picture is sent without opacity: a quarter less to pack. */
export const encodeCanvas = (canvas: Canvas) => PNG.sync.write(canvas, { colorType: 2 });

/** Lines with round ends, smooth at the edges; where they cross or join, they do not add up to a darker spot. */
export function drawLines(canvas: Canvas, lines: Line[], thickness: number, colour: Colour): void {
  const covered = new Map<number, number>();
  for (const line of lines) cover(covered, canvas, line, thickness / 2);
  for (const [pixel, share] of covered) blend(canvas, pixel, colour, share);
}

export const drawDot = (canvas: Canvas, centre: Point, thickness: number, colour: Colour) =>
  drawLines(canvas, [[centre, centre]], thickness, colour);

/** Everything from the height down to the bottom in one column of pixels, with the same faint share of colour. */
export function tintColumn(
  canvas: Canvas,
  x: number,
  top: number,
  bottom: number,
  colour: Colour,
  share: number,
) {
  for (let y = Math.ceil(top); y < bottom; y++) blend(canvas, y * canvas.width + x, colour, share);
}

export type Align = 'left' | 'centre' | 'right';
const shareBefore = { left: 0, centre: 0.5, right: 1 };

/** `at` is the top of the capital letters at that end of the text, `cell` the side of one cell of the font. */
export function drawText(
  canvas: Canvas,
  text: string,
  at: Point,
  align: Align,
  cell: number,
  colour: Colour,
): void {
  const { width, glyphs } = layOut(text);
  const left = at.x - width * cell * shareBefore[align];
  const centreOf = ({ column, row }: Cell) => ({
    x: left + (column + 0.5) * cell,
    y: at.y + (row + 0.5) * cell,
  });
  const lines = glyphs.flatMap(strokesOf).map(([a, b]): Line => [centreOf(a), centreOf(b)]);
  drawLines(canvas, lines, cell * 0.95, colour);
}

/** Neighbouring cells are joined by strokes instead of being filled as squares: this keeps curves smooth in any size. */
function strokesOf(glyph: Glyph): [Cell, Cell][] {
  const isInked = (column: number, row: number) =>
    glyph.some(cell => cell.column === column && cell.row === row);
  return glyph.flatMap(cell =>
    [cell, ...neighbours(cell, isInked)].map((other): [Cell, Cell] => [cell, other]),
  );
}

/** To the right and below; diagonally only where the corner is not already joined through a third cell. */
function neighbours({ column, row }: Cell, isInked: (column: number, row: number) => boolean): Cell[] {
  const straight: Cell[] = [
    { column: column + 1, row },
    { column, row: row + 1 },
  ];
  const diagonal = [1, -1]
    .map(down => ({ column: column + 1, row: row + down }))
    .filter(cell => !isInked(cell.column, row) && !isInked(column, cell.row));
  return [...straight, ...diagonal].filter(cell => isInked(cell.column, cell.row));
}

function cover(covered: Map<number, number>, canvas: Canvas, [a, b]: Line, radius: number): void {
  const reach = radius + 1;
  const fromX = Math.max(0, Math.floor(Math.min(a.x, b.x) - reach));
  const toX = Math.min(canvas.width - 1, Math.ceil(Math.max(a.x, b.x) + reach));
  const fromY = Math.max(0, Math.floor(Math.min(a.y, b.y) - reach));
  const toY = Math.min(canvas.height - 1, Math.ceil(Math.max(a.y, b.y) + reach));
  for (let y = fromY; y <= toY; y++)
    for (let x = fromX; x <= toX; x++) {
      const share = Math.min(1, radius + 0.5 - distance({ x: x + 0.5, y: y + 0.5 }, a, b));
      const pixel = y * canvas.width + x;
      if (share > (covered.get(pixel) ?? 0)) covered.set(pixel, share);
    }
}

function distance(point: Point, a: Point, b: Point): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const lengthSquared = dx * dx + dy * dy;
  const along = lengthSquared && ((point.x - a.x) * dx + (point.y - a.y) * dy) / lengthSquared;
  const nearest = Math.min(1, Math.max(0, along));
  return Math.hypot(point.x - a.x - nearest * dx, point.y - a.y - nearest * dy);
}

function blend(canvas: Canvas, pixel: number, colour: Colour, share: number): void {
  for (const [channel, value] of colour.entries()) {
    const at = pixel * 4 + channel;
    canvas.data[at] = Math.round(canvas.data[at]! + (value - canvas.data[at]!) * share);
  }
}
