import { type Html, html, type Part } from './html.ts';

/**
 * Every alternative matches as soon as it has begun, so the time is linear. What is not closed ends with the line, or with
 * the text where the language allows several lines.
 */
const cLike =
  /(?<comment>\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?)|(?<string>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\[\s\S])*`?)|(?<number>\b\d[\w.]*)|(?<name>[$\p{L}_][$\p{L}\d_]*)/gu;
const shell =
  /(?<comment>(?<!\S)#[^\n]*)|(?<string>"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?)|(?<name>[\p{L}_][\p{L}\d_-]*)/gu;
const python =
  /(?<comment>#[^\n]*)|(?<string>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|(?<number>\b\d[\w.]*)|(?<name>[\p{L}_][\p{L}\d_]*)/gu;

const words = (text: string) => new Set(text.split(' '));

const constants = 'true false null undefined None True False nil';
const typescript = words(
  `as async await break case catch class const continue default else export extends finally for from function if import in instanceof interface let new of return switch throw try type typeof while ${constants}`,
);

interface Language {
  tokens: RegExp;
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
export function highlight(code: string, name: string): Html {
  const language = Object.hasOwn(languages, name) ? languages[name] : undefined;
  if (!language) return html`${code}`;
  const parts: Part[] = [];
  let end = 0;
  for (const { 0: text, index, groups } of code.matchAll(language.tokens)) {
    parts.push(code.slice(end, index), marked(text, kindOf(groups!, language)));
    end = index + text.length;
  }
  return html`${parts}${code.slice(end)}`;
}

function kindOf(groups: Record<string, string | undefined>, { keywords }: Language): string | undefined {
  const { comment, string, number, name } = groups;
  if (comment !== undefined) return 'comment';
  if (string !== undefined) return 'string';
  if (number !== undefined) return 'number';
  return name !== undefined && keywords.has(name) ? 'keyword' : undefined;
}

const marked = (text: string, kind: string | undefined): Part =>
  kind === undefined ? text : html`<span class="${kind}">${text}</span>`;
