import type { MessageEntity } from 'grammy/types';
import type { ChatMessage } from './chats.ts';
import type { FakeUser } from './user.ts';

const width = 420;
const margin = 14;
const bubbleWidth = 310;
const padding = 11;
const lineHeight = 19;
const buttonHeight = 32;
const gap = 5;

/** A word, or the white space between two, in one style. */
interface Piece {
  text: string;
  style: string;
}

/** The chat as this person sees it, as a picture: bubbles left and right, buttons under the bubbles. */
export function dialogueToSvg({ messages, account }: Pick<FakeUser, 'messages' | 'account'>): string {
  let height = margin;
  const drawn: string[] = [];
  for (const message of messages.filter(({ isDeleted }) => !isDeleted)) {
    const drawing = draw(message, message.from.id === account.id);
    drawn.push(`<g transform="translate(0 ${height})">${drawing.svg}</g>`);
    height += drawing.height + 10;
  }
  height += margin - 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    ` font-family="system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif" font-size="14">`,
    '<title>A dialogue with the bot</title>',
    `<rect width="${width}" height="${height}" rx="12" fill="#d6e4ee"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function draw({ text, entities, keyboard }: ChatMessage, isOwn: boolean) {
  const lines = wrap(pieces(text, entities));
  const inner = keyboard.length > 0 ? bubbleWidth : Math.max(...lines.map(lineWidth));
  const bubble = Math.min(Math.ceil(inner) + 2 * padding, bubbleWidth);
  const height = 2 * padding + lines.length * lineHeight - 4;
  const left = isOwn ? width - margin - bubble : margin;
  const rows = keyboard.map((row, rowIndex) => {
    const each = (bubble - gap * (row.length - 1)) / row.length;
    const top = height + gap + rowIndex * (buttonHeight + gap);
    return row.map((button, index) => drawButton(button.text, index * (each + gap), top, each)).join('');
  });
  const box = `<rect width="${bubble}" height="${height}" rx="12" fill="${isOwn ? '#e1fec6' : '#ffffff'}"/>`;
  return {
    svg: `<g transform="translate(${left} 0)">${box}${lines.map(drawLine).join('')}${rows.join('')}</g>`,
    height: height + rows.length * (buttonHeight + gap),
  };
}

function drawButton(caption: string, x: number, y: number, buttonWidth: number): string {
  const box = `<rect x="${x}" y="${y}" width="${buttonWidth}" height="${buttonHeight}" rx="8" fill="#7f9bb0"/>`;
  const middle = `x="${x + buttonWidth / 2}" y="${y + buttonHeight / 2 + 5}"`;
  return `${box}<text ${middle} text-anchor="middle" fill="#ffffff">${escaped(caption)}</text>`;
}

function drawLine(line: Piece[], index: number): string {
  const spans = line.map(({ text, style }) =>
    style === '' ? escaped(text) : `<tspan${style}>${escaped(text)}</tspan>`,
  );
  const y = padding + 11 + index * lineHeight;
  return `<text x="${padding}" y="${y}" fill="#1c2733" xml:space="preserve">${spans.join('')}</text>`;
}

/** Cuts a text where words or styles end; a word as long as a key is cut, too. */
function pieces(text: string, entities: MessageEntity[]): Piece[] {
  const edges = entities.flatMap(({ offset, length }) => [offset, offset + length]);
  const words = [...text.matchAll(/\n|[^\S\n]+|\S{1,30}/g)].map(({ index }) => index);
  const cuts = [...new Set([...edges, ...words, text.length])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((from, index) => {
    const entity = entities.find(({ offset, length }) => offset <= from && from < offset + length);
    return { text: text.slice(from, cuts[index + 1]), style: entity ? (styles[entity.type] ?? '') : '' };
  });
}

const monospace = ' font-family="monospace" font-size="13"';
const styles: Partial<Record<MessageEntity['type'], string>> = {
  bold: ' font-weight="600"',
  italic: ' font-style="italic"',
  code: monospace,
  pre: monospace,
  bot_command: ' fill="#2678b6"',
};

function wrap(all: Piece[]): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const piece of all) {
    const line = lines.at(-1)!;
    const fits = line.length === 0 || lineWidth([...line, piece]) <= bubbleWidth - 2 * padding;
    if (piece.text === '\n') lines.push([]);
    else if (fits) line.push(piece);
    else lines.push(piece.text.trim() === '' ? [] : [piece]);
  }
  return lines;
}

const lineWidth = (line: Piece[]) =>
  line.reduce((sum, { text, style }) => sum + textWidth(text) * (style === '' ? 1 : 1.15), 0);

/** There is no font to measure with; these are widths of a common one, a little on the safe side. */
const textWidth = (text: string) =>
  [...text].reduce(
    (sum, character) =>
      sum + (/[\s()[\]ftrilj.,:;'|!/-]/.test(character) ? 5 : /[mwMW@]/.test(character) ? 12 : 8.2),
    0,
  );

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
