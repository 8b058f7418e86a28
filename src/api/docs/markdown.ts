import { posix } from 'node:path';
import MarkdownIt, { type StateCore, type Token } from 'markdown-it';
import { codeTabs, namedBlock, type Snippet, tabNames } from './code-block.ts';
import { pageOfFile } from './documents.ts';
import { escapeHtml, Html } from './html.ts';
import type { SiteTexts } from './locale.ts';

/** What one document needs while it is rendered. */
type Environment = {
  /** Its path in the repository, from which its links start. */
  file: string;
  texts: SiteTexts;
  /** Of its headings, in their order: those of the document in English, where it is a translation. */
  ids: string[] | undefined;
  /** The level of the last heading; the names of languages are one level below. */
  level: number;
};

// HTML in a document is shown as text.
const markdown = new MarkdownIt({ html: false }).disable('image');

/** The anchors that GitHub gives to headings, so that a link works in both places. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Links lead to pages of this service or to http(s); a document that is a page here is linked as one. */
function resolveLink(target: string, file: string): string | undefined {
  if (/^(?:https?:\/\/|\/(?!\/)|#)/.test(target)) return target;
  const [path = '', anchor] = target.split('#', 2);
  const page = pageOfFile(posix.join(posix.dirname(file), path));
  return page === undefined || anchor === undefined ? page : `${page}#${anchor}`;
}

// Not by the scheme alone: `resolveLinks` checks every link.
markdown.validateLink = () => true;

markdown.core.ruler.push('links', ({ tokens, env }: StateCore) => {
  for (const { children } of tokens) if (children) resolveLinks(children, (env as Environment).file);
});

/** A link that leads nowhere here is shown as text. */
function resolveLinks(children: Token[], file: string): void {
  let isOpen = true;
  for (const token of children) {
    if (token.type === 'link_open') {
      const target = resolveLink(String(token.attrGet('href')), file);
      isOpen = target !== undefined;
      if (isOpen) token.attrs = [['href', target!]];
    }
    if (!isOpen && /^link_/.test(token.type)) Object.assign(token, { type: 'text', content: '', nesting: 0 });
  }
}

/** Blocks of code that directly follow each other, each in another language, are one example: a group of tabs. */
markdown.core.ruler.push('code_tabs', (state: StateCore) => {
  const grouped: Token[] = [];
  for (const token of state.tokens) {
    const snippet = { language: token.info.trim(), code: token.content };
    const isTab = token.type === 'fence' && Object.hasOwn(tabNames, snippet.language);
    const before = grouped.at(-1);
    const snippets = before?.type === 'code_tabs' ? (before.meta!.snippets as Snippet[]) : [];
    if (isTab && snippets.length > 0 && snippets.every(({ language }) => language !== snippet.language)) {
      snippets.push(snippet);
    } else if (isTab) {
      const tabs = new state.Token('code_tabs', '', 0);
      tabs.meta = { snippets: [snippet] };
      grouped.push(tabs);
    } else grouped.push(token);
  }
  state.tokens = grouped;
});

markdown.core.ruler.push('heading_ids', ({ tokens, env }: StateCore) => {
  const { ids = anchorsIn(tokens) } = env as Environment;
  const headings = tokens.filter(({ type }) => type === 'heading_open');
  for (const [index, heading] of headings.entries()) heading.attrSet('id', ids[index] ?? '');
});

/** The anchors of the headings; of equal ones all but the first get a number. */
function anchorsIn(tokens: Token[]): string[] {
  const taken = new Set<string>();
  for (const [index, { type }] of tokens.entries()) {
    if (type !== 'heading_open') continue;
    const anchor = anchorOf(tokens[index + 1]!.content);
    let id = anchor;
    for (let copy = 1; taken.has(id); copy += 1) id = `${anchor}-${copy}`;
    taken.add(id);
  }
  return [...taken];
}

Object.assign(markdown.renderer.rules, {
  softbreak: () => ' ',
  heading_open: (tokens, index, _options, env) => {
    const heading = tokens[index]!;
    (env as Environment).level = Number(heading.tag.slice(1));
    return `<${heading.tag} id="${escapeHtml(String(heading.attrGet('id')))}">`;
  },
  fence: (tokens, index, _options, env) => {
    const { info, content } = tokens[index]!;
    return namedBlock({ language: info.trim() || 'text', code: content }, (env as Environment).texts).text;
  },
  code_tabs: (tokens, index, _options, env) => {
    const { level, texts } = env as Environment;
    const snippets = tokens[index]!.meta!.snippets as [Snippet, ...Snippet[]];
    return snippets.length === 1
      ? namedBlock(snippets[0], texts).text
      : codeTabs(snippets, Math.min(level + 1, 6)).text;
  },
  // With a tab stop, so that the keyboard can scroll what is wider than a phone.
  table_open: (_tokens, _index, _options, env) =>
    `<div class="wide" tabindex="0" role="group" aria-label="${(env as Environment).texts.code.table}"><table>\n`,
  table_close: () => '</table></div>\n',
  // The policy of the page forbids inline styles, which is how columns would be aligned.
  th_open: () => '<th scope="col">',
  td_open: () => '<td>',
} satisfies typeof markdown.renderer.rules);

/** The ids of the headings of a document in English. */
export function headingIdsOf(source: string): string[] {
  const tokens = markdown.parse(source, { file: '' });
  return tokens.filter(({ type }) => type === 'heading_open').map(token => String(token.attrGet('id')));
}

/** A document of the repository as HTML, without scripts and inline styles. */
export function renderMarkdown(source: string, file: string, texts: SiteTexts, ids?: string[]): Html {
  const environment: Environment = { file, texts, ids, level: 1 };
  return new Html(markdown.render(source, environment).trimEnd());
}

/** A sentence or two, such as a description in the OpenAPI document. */
export const renderInline = (source: string) => new Html(markdown.renderInline(source, { file: '' }));

/**
 * The source of a page for programs: its links lead where `addressOf` says that a page is, and what is no page here is
 * not linked.
 */
export function linkSource(source: string, file: string, addressOf: (page: string) => string): string {
  const relink = (link: string, text: string, target: string) => {
    const resolved = resolveLink(target, file);
    if (resolved === undefined) return text;
    const [page = '', ...anchor] = resolved.split('#');
    return page.startsWith('/') ? `[${text}](${[addressOf(page), ...anchor].join('#')})` : link;
  };
  // Every second part is a block of code.
  const parts = source.split('```');
  return parts
    .map((part, index) => (index % 2 === 0 ? part.replaceAll(/\[([^[\]]*)\]\(([^()\s]+)\)/g, relink) : part))
    .join('```');
}
