import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Bar, describeBar, type Figure, isReached, margin } from './figures.ts';

const file = join(import.meta.dirname, '..', 'results', 'latest.svg');

const width = 760;
const rowHeight = 34;
const top = 56;
const bottom = 34;
const left = 230;
const right = 130;
/** Longer bars are cut here, so that the line of the bar stays visible. */
const maxMargin = 3;

const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Every figure that has a bar, as a multiple of it: beyond the line means passed. */
export function drawChart(figures: Figure[], caption: string): string {
  const bars = figures.flatMap(({ bar }) => bar ?? []);
  const height = top + bars.length * rowHeight + bottom;
  const scale = (width - left - right) / maxMargin;
  const line = left + scale;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">`,
    '<title>Kopeck, measured against its bars</title>',
    '<style>text{fill:#333}.soft{fill:#777}.line{stroke:#777}',
    '@media(prefers-color-scheme:dark){text{fill:#ddd}.soft{fill:#999}.line{stroke:#999}}</style>',
    '<text x="16" y="26" font-size="16" font-weight="600">Kopeck, measured against its bars</text>',
    `<text class="soft" x="${line}" y="${top - 10}" text-anchor="middle" font-size="11">the bar</text>`,
    ...bars.map((bar, index) => drawBar(bar, top + index * rowHeight, scale)),
    `<line class="line" x1="${line}" y1="${top - 4}" x2="${line}" y2="${height - bottom}" stroke-dasharray="4 3"/>`,
    `<text class="soft" x="16" y="${height - 12}" font-size="11">${escapeText(caption)}</text>`,
    '</svg>',
  ].join('\n')}\n`;
}

function drawBar(bar: Bar, y: number, scale: number): string {
  const length = Math.min(margin(bar), maxMargin) * scale;
  const middle = y + rowHeight / 2 + 4;
  return [
    `<text x="${left - 10}" y="${middle}" text-anchor="end">${escapeText(bar.name)}</text>`,
    `<rect x="${left}" y="${y + 6}" width="${length.toFixed(1)}" height="${rowHeight - 12}" rx="3" fill="${isReached(bar) ? '#2e9e6b' : '#d0543f'}"/>`,
    `<text x="${width - 16}" y="${middle}" text-anchor="end">${bar.value.toFixed(bar.value < 10 ? 2 : 0)} <tspan class="soft">${escapeText(describeBar(bar))}</tspan></text>`,
  ].join('\n');
}

export function saveChart(svg: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, svg);
  return file;
}
