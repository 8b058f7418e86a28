import MarkdownIt from 'markdown-it';

export interface Page {
  title: string;
  html: string;
}

// HTML in a guide is shown as text.
const markdown = new MarkdownIt({ html: false }).disable('image');
const { escapeHtml } = markdown.utils;

/** The anchors that GitHub gives to headings, so that a link works in both places. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Links go to our guides and pages or to http(s). A guide is a file on GitHub and a page here. */
markdown.validateLink = () => true;
markdown.normalizeLink = target =>
  /^(https?:\/\/|\/(?!\/)|#|[\w-]+\.md(#|$))/.test(target)
    ? target.replace(/^README\.md/, './').replace(/^([\w-]+)\.md/, '$1')
    : '#';

Object.assign(markdown.renderer.rules, {
  softbreak: () => ' ',
  heading_open: (tokens, index) =>
    `<${tokens[index]!.tag} id="${escapeHtml(anchorOf(tokens[index + 1]!.content))}">`,
  fence: (tokens, index) => {
    const { info, content } = tokens[index]!;
    const language = escapeHtml(info.trim() || 'text');
    // With a tab stop, so that the keyboard can scroll what is wider than a phone; the same holds for tables.
    return `<pre class="${language}" tabindex="0" role="group" aria-label="${language}"><code>${escapeHtml(content)}</code></pre>\n`;
  },
  table_open: () => '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n',
  table_close: () => '</table></div>\n',
  // The policy of the page forbids inline styles, which is how columns would be aligned.
  th_open: () => '<th>',
  td_open: () => '<td>',
} satisfies typeof markdown.renderer.rules);

/** A guide as HTML, without scripts and inline styles. */
export function renderMarkdown(source: string): Page {
  const title = /^# (.*)$/m.exec(source)?.[1] ?? '';
  return { title: escapeHtml(title.replaceAll('`', '')), html: markdown.render(source).trimEnd() };
}
