import type { MessageEntity } from 'grammy/types';
import type { ChatMessage } from './chats.ts';
import type { FakeUser } from './user.ts';

const width = 420;
const margin = 14;
const bubbleWidth = 310;
const padding = 11;
const lineHeight = 19;
const buttonHeight = 32;
const photoSide = 150;
const gap = 5;
const longestWord = 30;

interface Drawing {
  svg: string;
  height: number;
}

/** A word, or the white space between two, in one style. */
interface Piece {
  text: string;
  style: string;
}

/** The chat as this person sees it, as a picture: bubbles left and right, buttons under the bubbles. */
export function dialogueToSvg({ messages, account }: FakeUser): string {
  let top = margin;
  const drawn: string[] = [];
  for (const message of messages.filter(({ isDeleted }) => !isDeleted)) {
    const { svg, height } = draw(message, message.from.id === account.id);
    drawn.push(`<g transform="translate(0 ${top})">${svg}</g>`);
    top += height + 10;
  }
  const height = top - 10 + margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    ` font-family="system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif" font-size="14">`,
    '<title>A dialogue with the bot</title>',
    `<rect width="${width}" height="${height}" rx="12" fill="#d6e4ee"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function draw(message: ChatMessage, isOwn: boolean): Drawing {
  const lines = message.text === '' ? [] : wrap(pieces(message.text, message.entities));
  const media = drawMedia(message);
  const inner = Math.max(...lines.map(lineWidth), media.width, message.keyboard.length > 0 ? bubbleWidth : 0);
  const bubble = Math.min(Math.ceil(inner) + 2 * padding, bubbleWidth);
  const height = 2 * padding + media.height + lines.length * lineHeight - (lines.length > 0 ? 4 : 0);
  const left = isOwn ? width - margin - bubble : margin;
  const text = lines.map((line, index) => drawLine(line, padding + media.height + 11 + index * lineHeight));
  const keyboard = drawKeyboard(message, bubble, height + gap);
  const box = `<rect width="${bubble}" height="${height}" rx="12" fill="${isOwn ? '#e1fec6' : '#ffffff'}"/>`;
  return {
    svg: `<g transform="translate(${left} 0)">${box}${media.svg}${text.join('')}${keyboard.svg}</g>`,
    height: height + keyboard.height,
  };
}

function drawMedia({ photo, document }: ChatMessage): Drawing & { width: number } {
  if (photo) {
    const { mimeType, bytes } = photo.full;
    const source = `data:${mimeType};base64,${bytes.toString('base64')}`;
    const place = `x="${padding}" y="${padding}" width="${photoSide}" height="${photoSide}"`;
    return { svg: `<image ${place} href="${source}"/>`, width: photoSide, height: photoSide + 8 };
  }
  if (!document) return { svg: '', width: 0, height: 0 };
  const line = [{ text: `📎 ${document.name}`, style: '' }];
  return { svg: drawLine(line, padding + 11), width: lineWidth(line), height: lineHeight };
}

function drawKeyboard({ keyboard }: ChatMessage, bubble: number, top: number): Drawing {
  const rows = keyboard.map((row, rowIndex) => {
    const each = (bubble - gap * (row.length - 1)) / row.length;
    const y = top + rowIndex * (buttonHeight + gap);
    return row.map(({ text }, index) => drawButton(text, index * (each + gap), y, each)).join('');
  });
  return { svg: rows.join(''), height: rows.length * (buttonHeight + gap) };
}

function drawButton(caption: string, x: number, y: number, buttonWidth: number): string {
  const box = `<rect x="${x}" y="${y}" width="${buttonWidth}" height="${buttonHeight}" rx="8" fill="#7f9bb0"/>`;
  const middle = `x="${x + buttonWidth / 2}" y="${y + buttonHeight / 2 + 5}"`;
  return `${box}<text ${middle} text-anchor="middle" fill="#ffffff">${escaped(shortened(caption, buttonWidth))}</text>`;
}

function shortened(caption: string, available: number): string {
  if (textWidth(caption) <= available - 12) return caption;
  const characters = [...caption];
  while (textWidth(`${characters.join('')}…`) > available - 12) characters.pop();
  return `${characters.join('')}…`;
}

function drawLine(line: Piece[], y: number): string {
  const spans = line.map(({ text, style }) =>
    style === '' ? escaped(text) : `<tspan${style}>${escaped(text)}</tspan>`,
  );
  return `<text x="${padding}" y="${y}" fill="#1c2733" xml:space="preserve">${spans.join('')}</text>`;
}

/** Cuts a text where words or styles end. */
function pieces(text: string, entities: MessageEntity[]): Piece[] {
  const edges = entities.flatMap(({ offset, length }) => [offset, offset + length]);
  const words = [...text.matchAll(/\n|[^\S\n]+|\S+/g)].map(({ index }) => index);
  const cuts = [...new Set([...edges, ...words, text.length])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((from, index) => ({
    text: text.slice(from, cuts[index + 1]),
    style: styleAt(entities, from),
  }));
}

const styles: Partial<Record<MessageEntity['type'], string>> = {
  bold: ' font-weight="600"',
  italic: ' font-style="italic"',
  underline: ' text-decoration="underline"',
  strikethrough: ' text-decoration="line-through"',
  code: ' font-family="monospace" font-size="13"',
  pre: ' font-family="monospace" font-size="13"',
  text_link: ' fill="#2678b6"',
  url: ' fill="#2678b6"',
  bot_command: ' fill="#2678b6"',
};

/** An attribute may stand only once, so of two nested styles that are the same one is drawn. */
function styleAt(entities: MessageEntity[], at: number): string {
  const here = entities.filter(({ offset, length }) => offset <= at && at < offset + length);
  return [...new Set(here.map(({ type }) => styles[type] ?? ''))].join('');
}

function wrap(all: Piece[]): Piece[][] {
  const lines: Piece[][] = [[]];
  const available = bubbleWidth - 2 * padding;
  for (const word of wordsOf(all)) {
    const line = lines.at(-1)!;
    if (word[0]!.text === '\n') lines.push([]);
    else if (line.length === 0 || lineWidth([...line, ...word]) <= available) line.push(...word);
    else lines.push(isSpace(word[0]!) ? [] : word);
  }
  return lines;
}

/** A style may change within a word, which is still not to be torn; but the address of a wallet has to be. */
function wordsOf(all: Piece[]): Piece[][] {
  const words: Piece[][] = [];
  for (const piece of all.flatMap(shortPieces)) {
    const word = words.at(-1);
    const goesOn = word && !isSpace(piece) && !isSpace(word[0]!) && lengthOf([...word, piece]) <= longestWord;
    if (goesOn) word.push(piece);
    else words.push([piece]);
  }
  return words;
}

const isSpace = ({ text }: Piece) => text.trim() === '';
const lengthOf = (word: Piece[]) => word.reduce((sum, { text }) => sum + text.length, 0);

const shortPieces = ({ text, style }: Piece): Piece[] =>
  text.match(new RegExp(`.{1,${longestWord}}`, 'gsu'))!.map(part => ({ text: part, style }));

const lineWidth = (line: Piece[]) =>
  line.reduce((sum, { text, style }) => sum + textWidth(text) * (style === '' ? 1 : 1.15), 0);

/** There is no font to measure with; these are widths of a common one, a little on the safe side. */
const textWidth = (text: string) => [...text].reduce((sum, character) => sum + characterWidth(character), 0);

function characterWidth(character: string): number {
  if (/\p{Extended_Pictographic}/u.test(character) && !/\d/.test(character)) return 19;
  if (/[ilj.,:;'|!]/.test(character)) return 4.2;
  if (/[\s()[\]ftr/-]/.test(character)) return 5.4;
  if (/[mwMWжшщюмфыЖШЩЮМФЫ@]/.test(character)) return 12;
  return /\p{Lu}/u.test(character) ? 9.8 : 8.1;
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
