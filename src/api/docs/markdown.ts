import { posix } from 'node:path';
import MarkdownIt, { type StateCore, type Token } from 'markdown-it';
import { codeBlock, codeTabs, type Snippet, tabNames } from './code-block.ts';
import { escapeHtml, Html } from './html.ts';

/** What one document needs while it is rendered. */
type Environment = {
  /** Its path in the repository, from which its links start. */
  file: string;
  anchors: Set<string>;
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

/** The documents of the repository that are pages here, besides the guides. */
const pathOfFile = new Map([
  ['docs/guides/README.md', '/docs/guides/'],
  ['sdk/README.md', '/docs/library'],
  ['sdk-python/README.md', '/docs/library-python'],
  ['sdk-php/README.md', '/docs/library-php'],
  ['sdk-cli/README.md', '/docs/cli'],
  ['docs/reference/api-changelog.md', '/docs/changelog'],
]);

export const findPage = (file: string): string | undefined =>
  pathOfFile.get(file) ??
  (/^docs\/guides\/[\w-]+\.md$/.test(file) ? `/${file.slice(0, -'.md'.length)}` : undefined);

/** Links lead to pages of this service or to http(s); a document that is a page here is linked as one. */
function resolveLink(target: string, file: string): string | undefined {
  if (/^(?:https?:\/\/|\/(?!\/)|#)/.test(target)) return target;
  const [path = '', anchor] = target.split('#', 2);
  const page = findPage(posix.join(posix.dirname(file), path));
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

Object.assign(markdown.renderer.rules, {
  softbreak: () => ' ',
  heading_open: (tokens, index, _options, env) => {
    const environment = env as Environment;
    const { tag } = tokens[index]!;
    const anchor = anchorOf(tokens[index + 1]!.content);
    let id = anchor;
    for (let copy = 1; environment.anchors.has(id); copy += 1) id = `${anchor}-${copy}`;
    environment.anchors.add(id);
    environment.level = Number(tag.slice(1));
    return `<${tag} id="${escapeHtml(id)}">`;
  },
  fence: (tokens, index) => {
    const { info, content } = tokens[index]!;
    return codeBlock({ language: info.trim() || 'text', code: content }).text;
  },
  code_tabs: (tokens, index, _options, env) => {
    const snippets = tokens[index]!.meta!.snippets as [Snippet, ...Snippet[]];
    return snippets.length === 1
      ? codeBlock(snippets[0]).text
      : codeTabs(snippets, Math.min((env as Environment).level + 1, 6)).text;
  },
  // With a tab stop, so that the keyboard can scroll what is wider than a phone.
  table_open: () => '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n',
  table_close: () => '</table></div>\n',
  // The policy of the page forbids inline styles, which is how columns would be aligned.
  th_open: () => '<th scope="col">',
  td_open: () => '<td>',
} satisfies typeof markdown.renderer.rules);

/** A document of the repository as HTML, without scripts and inline styles. */
export function renderMarkdown(source: string, file: string): Html {
  const environment: Environment = { file, anchors: new Set(), level: 1 };
  return new Html(markdown.render(source, environment).trimEnd());
}

/** A sentence or two, such as a description in the OpenAPI document. */
export const renderInline = (source: string) => new Html(markdown.renderInline(source, { file: '' }));
