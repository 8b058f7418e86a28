import type { MessageEntity } from 'grammy/types';
import { violation } from './errors.ts';

export interface FormattedText {
  text: string;
  entities: MessageEntity[];
}

/** The tags that the bot uses, and `a`. Telegram knows more. */
const tags = { b: 'bold', i: 'italic', code: 'code', pre: 'pre' } as const;
const namedCharacters: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' };

interface OpenTag {
  name: string;
  url: string;
  offset: number;
}

/**
 * Text in Telegram's HTML style as plain text and entities. Stricter than Telegram itself, which lets a lone `&` or
 * `>` pass although its documentation asks to escape them: where one slips through, some day a `<` will.
 */
function parseHtml(html: string): FormattedText {
  const open: OpenTag[] = [];
  const entities: MessageEntity[] = [];
  let text = '';
  for (const [token] of html.matchAll(/<[^<>]*>|&[^;&<>\s]*;|[^<>&]+|[<>&]/g)) {
    if (token.startsWith('</')) {
      const tag = open.pop();
      if (tag?.name !== token.slice(2, -1)) throw unparsable(`Unexpected end tag "${token}"`);
      if (text.length > tag.offset) entities.push(entityOf(tag, text.length - tag.offset));
    } else if (token.length > 1 && token.startsWith('<'))
      open.push({ ...startTag(token), offset: text.length });
    else text += plain(token);
  }
  if (open.length > 0) throw unparsable(`Can't find end tag corresponding to start tag "${open[0]!.name}"`);
  return { text, entities: entities.sort((a, b) => a.offset - b.offset || b.length - a.length) };
}

/** Telegram cuts white space at both ends of every text. */
function trimmed({ text, entities }: FormattedText): FormattedText {
  const cut = text.length - text.trimStart().length;
  const kept = text.trim();
  return {
    text: kept,
    entities: entities.flatMap(entity => {
      const start = Math.max(entity.offset - cut, 0);
      const end = Math.min(entity.offset - cut + entity.length, kept.length);
      return end > start ? [{ ...entity, offset: start, length: end - start }] : [];
    }),
  };
}

const unparsable = (why: string) => violation(`can't parse entities: ${why}`);

function startTag(token: string): Omit<OpenTag, 'offset'> {
  const [, name = '', url = ''] = /^<(?:([a-z]+)|a href="([^"]*)")>$/.exec(token) ?? [];
  if (url !== '') return { name: 'a', url };
  if (!(name in tags)) throw unparsable(`Unsupported start tag "${token}"`);
  return { name, url };
}

const entityOf = ({ name, url, offset }: OpenTag, length: number): MessageEntity =>
  name === 'a'
    ? { type: 'text_link', offset, length, url: url.replace(/&[^;&]*;/g, plain) }
    : { type: tags[name as keyof typeof tags], offset, length };

function plain(token: string): string {
  if (token === '<') throw unparsable('Unclosed start tag');
  if (token === '>' || token === '&') throw unparsable(`"${token}" must be escaped`);
  if (!token.startsWith('&')) return token;
  const character = namedCharacters[token.slice(1, -1)];
  if (character === undefined) throw unparsable(`Unsupported HTML entity "${token}"`);
  return character;
}

const maxLengths = { text: 4096, caption: 1024 };

/** Lengths are counted in UTF-16 units, as offsets of entities are: never less than what Telegram counts. */
export function format(kind: 'text' | 'caption', source: string, parseMode?: 'HTML'): FormattedText {
  const formatted = trimmed(parseMode ? parseHtml(source) : { text: source, entities: [] });
  if (kind === 'text' && formatted.text === '') throw violation('message text is empty');
  if (formatted.text.length > maxLengths[kind])
    throw violation(`message ${kind === 'text' ? '' : 'caption '}is too long`);
  return formatted;
}
