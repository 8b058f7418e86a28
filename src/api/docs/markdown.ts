/**
 * The markdown that our guides use, as HTML, and no more: headings, paragraphs, lists of one level, tables, fenced code,
 * quotes, and in lines code, bold, emphasis and links. Everything else comes out as the text that it is; HTML always does.
 */
export interface Page {
  title: string;
  html: string;
}

export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** As GitHub names its headings, so that a link works in both places. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** A guide is a file there and a page here. What could run something is not an address. */
const addressOf = (target: string) =>
  /^(https?:\/\/|\/(?!\/)|#|[\w-]+\.md(#|$))/.test(target)
    ? target.replace(/^README\.md/, './').replace(/^([\w-]+)\.md/, '$1')
    : '#';

function inline(text: string): string {
  // Code is put aside: what stands in it means nothing else.
  const codes: string[] = [];
  return escapeHtml(text.replaceAll(/`([^`]+)`/g, (_all, code) => `\0${codes.push(code) - 1}\0`))
    .replaceAll(
      /\[([^\]]+)\]\(([^()\s]+)\)/g,
      (_all, label, target) => `<a href="${addressOf(target)}">${label}</a>`,
    )
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/g, '<em>$1</em>')
    .replaceAll(/\0(\d+)\0/g, (_all, index) => `<code>${escapeHtml(codes[index]!)}</code>`);
}

const cellsOf = (line: string) =>
  line
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map(cell => inline(cell.trim().replaceAll('\\|', '|')));

function table([head = '', , ...rows]: string[]): string {
  const row = (line: string, tag: 'th' | 'td') =>
    `<tr>${cellsOf(line)
      .map(cell => `<${tag}>${cell}</${tag}>`)
      .join('')}</tr>`;
  const body = rows.map(line => row(line, 'td')).join('');
  // Wider than a phone it can be moved by itself, also with the keyboard.
  return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead>${row(head, 'th')}</thead><tbody>${body}</tbody></table></div>`;
}

function list(lines: string[], tag: 'ul' | 'ol'): string {
  const items = lines
    .join('\n')
    .split(/^(?:[-*]|\d+\.) /m)
    .slice(1);
  return `<${tag}>${items.map(item => `<li>${inline(item.replaceAll(/\s+/g, ' ').trim())}</li>`).join('')}</${tag}>`;
}

function heading(line: string): string {
  const [, marks = '', text = ''] = /^(#{1,6}) (.*)$/.exec(line)!;
  const level = marks.length;
  return `<h${level} id="${escapeHtml(anchorOf(text))}">${inline(text)}</h${level}>`;
}

const fence = /^```(\w*)$/;
const startsBlock = /^(#{1,6} |```|\||> |[-*] |\d+\. )/;

export function renderMarkdown(source: string): Page {
  const lines = source.split('\n');
  const html: string[] = [];
  let at = 0;
  const takeWhile = (belongs: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && belongs(lines[at]!)) at++;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const code = fence.exec(line);
    if (line.trim() === '') at++;
    else if (code) {
      at++;
      const text = takeWhile(one => one !== '```').join('\n');
      at++;
      const label = code[1] || 'text';
      html.push(
        `<pre class="${label}" tabindex="0" role="group" aria-label="${label}"><code>${escapeHtml(`${text}\n`)}</code></pre>`,
      );
    } else if (/^#{1,6} /.test(line)) html.push(heading(lines[at++]!));
    else if (line.startsWith('|')) html.push(table(takeWhile(one => one.startsWith('|'))));
    else if (line.startsWith('> ')) {
      const text = takeWhile(one => one.startsWith('>')).map(one => one.replace(/^> ?/, ''));
      html.push(`<blockquote><p>${inline(text.join(' '))}</p></blockquote>`);
    } else if (/^([-*]|\d+\.) /.test(line)) {
      const items = takeWhile(one => /^([-*]|\d+\.) |^ +\S/.test(one));
      html.push(list(items, /^\d/.test(line) ? 'ol' : 'ul'));
    } else {
      const first = lines[at++]!;
      const rest = takeWhile(one => one.trim() !== '' && !startsBlock.test(one));
      html.push(`<p>${inline([first, ...rest].join(' '))}</p>`);
    }
  }
  const title = /^# (.*)$/m.exec(source)?.[1] ?? '';
  return { title: title.replaceAll('`', ''), html: html.join('\n') };
}
