import { PNG } from 'pngjs';
import { describe, expect, test } from 'vitest';
import { drawRateChart as draw, type RatePoint } from '../../src/bot/images/chart.ts';
import { textsByLanguage } from '../../src/bot/texts/index.ts';

const { title, formatRate } = textsByLanguage.en.rate.chart;
const drawRateChart = (points: RatePoint[], options: { title: string }) =>
  draw(points, { formatRate, ...options });
const rates = (...all: bigint[]): RatePoint[] =>
  all.map((rateE4, hour) => ({ at: new Date(Date.UTC(2026, 2, 1, hour)), rateE4 }));

type IsColour = (red: number, green: number, blue: number) => boolean;
const isLine: IsColour = (red, green, blue) => red < 60 && green < 120 && blue > 220;
const isDark: IsColour = (red, green, blue) => red < 50 && green < 60 && blue < 80;

/** The pixels of the colour, in the columns and rows given as shares of the picture. */
function find(png: Buffer, isColour: IsColour, [fromX, toX] = [0, 1], [fromY, toY] = [0.15, 1]) {
  const { width, height, data } = PNG.sync.read(png);
  const found: { x: number; y: number }[] = [];
  for (let y = Math.floor(height * fromY!); y < height * toY!; y++)
    for (let x = Math.floor(width * fromX!); x < width * toX!; x++) {
      const at = (y * width + x) * 4;
      if (isColour(data[at]!, data[at + 1]!, data[at + 2]!)) found.push({ x, y });
    }
  return found;
}

const meanY = (pixels: { y: number }[]) => pixels.reduce((sum, { y }) => sum + y, 0) / pixels.length;
const titleOf = (png: Buffer) => find(png, isDark, [0, 0.7], [0, 0.15]);

describe('the chart of rates', () => {
  test('is a picture of 800 by 400 pixels', async () => {
    const picture = PNG.sync.read(await drawRateChart(rates(1n, 2n), { title }));
    expect([picture.width, picture.height]).toEqual([800, 400]);
  });

  test('has a line that rises with the rate, in whichever order the points come', async () => {
    const points = rates(925_000n, 927_000n, 926_500n, 931_417n);
    const png = await drawRateChart(points, { title });
    const [start, end] = [find(png, isLine, [0.13, 0.2]), find(png, isLine, [0.92, 0.96])];
    expect(meanY(start) - meanY(end)).toBeGreaterThan(150);
    expect(await drawRateChart(points.toReversed(), { title })).toEqual(png);
  });

  test('of a rate that does not change is a level line in the middle', async () => {
    const line = find(
      await drawRateChart(rates(925_000n, 925_000n, 925_000n), { title }),
      isLine,
      [0.2, 0.9],
    );
    const rows = new Set(line.map(({ y }) => y));
    expect(rows.size).toBeLessThanOrEqual(3);
    expect(new Set(line.map(({ x }) => x)).size).toBe(560);
  });

  const manyAtOnce = [1n, 5n].map(rateE4 => ({ at: new Date(0), rateE4 }));
  test.each([
    ['one point', rates(925_000n)],
    ['many points at one moment', manyAtOnce],
  ])('of %s is no wider than a dot', async (_what, points) => {
    const dot = find(await drawRateChart(points, { title }), isLine);
    const columns = dot.map(({ x }) => x);
    expect(dot.length).toBeGreaterThan(20);
    expect(Math.max(...columns) - Math.min(...columns)).toBeLessThan(12);
  });

  test('of no points has its title and no line', async () => {
    const png = await drawRateChart([], { title });
    expect(find(png, isLine)).toEqual([]);
    expect(titleOf(png).length).toBeGreaterThan(50);
  });

  test('has a title in Latin or Cyrillic letters, and leaves out one that is too long', async () => {
    const points = rates(1n, 2n);
    const untitled = await drawRateChart(points, { title: '' });
    expect(titleOf(await drawRateChart(points, { title })).length).toBeGreaterThan(50);
    expect(titleOf(await drawRateChart(points, { title: 'Курс <USDT>' })).length).toBeGreaterThan(50);
    expect(await drawRateChart(points, { title: 'x'.repeat(200) })).toEqual(untitled);
  });

  test('has decimal commas in Russian', async () => {
    const { chart } = textsByLanguage.ru.rate;
    expect([chart.formatRate(931_417n), formatRate(931_417n)]).toEqual(['93,1417', '93.1417']);
    const points = rates(925_000n, 931_417n);
    const comma = await draw(points, { title, formatRate: chart.formatRate });
    expect(comma).not.toEqual(await drawRateChart(points, { title }));
    const written = (rateE4: bigint) => (rateE4 === 925_000n ? '92,5000' : '93,1417');
    expect(comma).toEqual(await draw(points, { title, formatRate: written }));
  });
});
