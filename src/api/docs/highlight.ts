import { type Html, html, type Part } from './html.ts';

type Kind = 'comment' | 'string' | 'number' | 'keyword';

/** What is not closed ends with the line, or with the text where the language allows several lines. */
const lineComment = /\/\/[^\n]*/y;
const blockComment = /\/\*(?:[^*]|\*+[^*/])*(?:\*+\/)?/y;
const hashComment = /#[^\n]*/y;
const doubleQuoted = /"(?:[^"\\\n]|\\.)*"?/y;
const singleQuoted = /'(?:[^'\\\n]|\\.)*'?/y;
const backQuoted = /`(?:[^`\\]|\\[\s\S])*`?/y;
const number = /\d[\w.]*/y;
const name = /[$\p{L}_][$\p{L}\d_]*/uy;

const cLike: [Kind | 'name', RegExp][] = [
  ['comment', lineComment],
  ['comment', blockComment],
  ['string', doubleQuoted],
  ['string', singleQuoted],
  ['string', backQuoted],
  ['number', number],
  ['name', name],
];
const python: typeof cLike = [
  ['comment', hashComment],
  ['string', doubleQuoted],
  ['string', singleQuoted],
  ['number', number],
  ['name', name],
];
const shell: typeof cLike = [
  ['comment', hashComment],
  ['string', /"(?:[^"\\]|\\[\s\S])*"?/y],
  ['string', /'[^']*'?/y],
  // A word may contain a hash; only between words it begins a comment.
  ['name', /[^\s"'#][^\s"']*/y],
];

const words = (text: string) => new Set(text.split(' '));

const constants = 'true false null undefined None True False nil';
const typescript = words(
  `as async await break case catch class const continue default else export extends finally for from function if import in instanceof interface let new of return switch throw try type typeof while ${constants}`,
);

interface Language {
  tokens: typeof cLike;
  keywords: Set<string>;
}

const languages: Record<string, Language> = {
  json: { tokens: cLike, keywords: words(constants) },
  ts: { tokens: cLike, keywords: typescript },
  js: { tokens: cLike, keywords: typescript },
  go: {
    tokens: cLike,
    keywords: words(
      `break case chan const continue default defer else fallthrough for func go if import interface map package range return select struct switch type var ${constants}`,
    ),
  },
  php: {
    tokens: cLike,
    keywords: words(
      `array as break case catch class const continue declare default echo else elseif finally fn for foreach function if match namespace new public private readonly require require_once return static switch throw try use while ${constants}`,
    ),
  },
  python: {
    tokens: python,
    keywords: words(
      `and as assert async await break class continue def del elif else except finally for from global if import in is lambda not or pass raise return try while with yield ${constants}`,
    ),
  },
  sh: {
    tokens: shell,
    keywords: words(
      'case curl do done elif else esac export fi for function if in npm npx return then while',
    ),
  },
};

/** Code with its tokens marked; in a language that is not known, as it is. */
export function highlight(code: string, languageName: string): Html {
  const language = Object.hasOwn(languages, languageName) ? languages[languageName] : undefined;
  if (!language) return html`${code}`;
  const parts: Part[] = [];
  for (let at = 0; at < code.length; ) {
    const { text, kind } = tokenAt(code, at, language);
    parts.push(kind === undefined ? text : html`<span class="${kind}">${text}</span>`);
    at += text.length;
  }
  return html`${parts}`;
}

function tokenAt(code: string, at: number, { tokens, keywords }: Language): { text: string; kind?: Kind } {
  for (const [kind, pattern] of tokens) {
    pattern.lastIndex = at;
    const text = pattern.exec(code)?.[0];
    if (text === undefined) continue;
    if (kind !== 'name') return { text, kind };
    return keywords.has(text) ? { text, kind: 'keyword' } : { text };
  }
  return { text: code[at]! };
}
