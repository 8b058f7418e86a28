import type { MessageEntity } from 'grammy/types';
import { violation } from './errors.ts';

export interface FormattedText {
  text: string;
  entities: MessageEntity[];
}

const simpleTags = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
  'tg-spoiler': 'spoiler',
} as const;

const namedCharacters: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' };

interface OpenTag {
  name: string;
  attributes: string;
  offset: number;
}

/**
 * Text in Telegram's HTML style as plain text and entities. Stricter than Telegram itself, which lets a lone `&` or
 * `>` pass although its documentation asks to escape them: where one slips through, some day a `<` will.
 */
export function parseHtml(html: string): FormattedText {
  const open: OpenTag[] = [];
  const entities: MessageEntity[] = [];
  let text = '';
  for (const [token] of html.matchAll(/<[^<>]*>|&[^;&<>\s]*;|[^<>&]+|[<>&]/g)) {
    if (token.startsWith('</')) {
      const tag = open.pop();
      const name = token.slice(2, -1).trim().toLowerCase();
      if (tag === undefined) throw unparsable(`Unexpected end tag "${token}"`);
      if (tag.name !== name)
        throw unparsable(`Unmatched end tag, expected "</${tag.name}>", found "${token}"`);
      if (text.length > tag.offset) entities.push(entityOf(tag, text.length - tag.offset));
    } else if (token.length > 1 && token.startsWith('<')) {
      open.push({ ...startTag(token), offset: text.length });
    } else {
      text += plain(token);
    }
  }
  const unclosed = open.pop();
  if (unclosed) throw unparsable(`Can't find end tag corresponding to start tag "${unclosed.name}"`);
  return trimmed({ text, entities: entities.sort((a, b) => a.offset - b.offset || b.length - a.length) });
}

/** Telegram cuts white space at both ends of every text. */
export function trimmed({ text, entities }: FormattedText): FormattedText {
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

function startTag(token: string): { name: string; attributes: string } {
  const [, name, attributes] = /^<([a-z-]+)((?:\s+[a-z-]+(?:="[^"]*"|='[^']*')?)*)\s*>$/i.exec(token) ?? [];
  const known = name?.toLowerCase();
  if (known === undefined || !(known in simpleTags || known === 'a')) {
    throw unparsable(`Unsupported start tag "${token}"`);
  }
  if (known === 'a' && !/\shref=/.test(attributes!)) throw unparsable('Tag "a" must have attribute "href"');
  return { name: known, attributes: attributes! };
}

function entityOf({ name, attributes, offset }: OpenTag, length: number): MessageEntity {
  if (name === 'a') {
    const [, double, single] = /\shref=(?:"([^"]*)"|'([^']*)')/.exec(attributes) ?? [];
    const url = (double ?? single ?? '').replace(/&[^;&]*;/g, plain);
    return { type: 'text_link', offset, length, url };
  }
  if (name === 'blockquote' && /\sexpandable\b/.test(attributes)) {
    return { type: 'expandable_blockquote', offset, length };
  }
  return { type: simpleTags[name as keyof typeof simpleTags], offset, length };
}

function plain(token: string): string {
  if (token === '<') throw unparsable('Unclosed start tag');
  if (token === '>' || token === '&') throw unparsable(`"${token}" must be escaped`);
  if (!token.startsWith('&')) return token;
  const name = token.slice(1, -1);
  const code = /^#(?:x([0-9a-f]+)|([0-9]+))$/i.exec(name);
  if (code) return String.fromCodePoint(code[1] ? Number.parseInt(code[1], 16) : Number(code[2]));
  const character = namedCharacters[name];
  if (character === undefined) throw unparsable(`Unsupported HTML entity "${token}"`);
  return character;
}
