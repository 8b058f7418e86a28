import type { Assets } from './assets.ts';
import { type Html, html, type Part } from './html.ts';
import type { Page, PageGroup } from './pages.ts';
import { type Section, sectionsOf } from './sections.ts';

interface Shell {
  title: string;
  description: string;
  content: Html;
  /** Beside the content. */
  sideBar?: Html;
  scripts?: string[];
}

const styles = ['site.css', 'content.css'];

/** A page as every page here is: nothing inline, nothing from another host. */
export const shell = (
  { title, description, content, sideBar, scripts = [] }: Shell,
  assets: Assets,
) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<link rel="icon" type="image/svg+xml" href="${assets.path('icon.svg')}">
${styles.map(name => html`<link rel="stylesheet" href="${assets.path(name)}">\n`)}<script src="${assets.path('first.js')}"></script>
${scripts.map(name => html`<script type="module" src="${assets.path(name)}"></script>\n`)}</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="/"><img src="${assets.path('icon.svg')}" alt="" width="24" height="24">Kopeck</a>
${sideBar && controls}</header>
${sideBar ? html`<div class="columns">\n${sideBar}\n${content}\n</div>` : content}
</body>
</html>
`;

/** They need scripts, which show them. */
const controls = html`<search hidden>
<input type="search" id="search" placeholder="Search (press /)" aria-label="Search the documentation" autocomplete="off" spellcheck="false">
<div class="results" hidden><p role="status"></p><ul></ul></div>
</search>
<label class="theme" hidden>Theme <select><option value="">System</option><option value="light">Light</option><option value="dark">Dark</option></select></label>
<button type="button" class="menu" aria-expanded="false" aria-controls="menu" hidden>Menu</button>
`;

const scripts = ['copy.js', 'menu.js', 'search.js', 'tabs.js', 'theme.js'];

/** A page of the documentation with its side bar, its contents, and the pages before and after it. */
export function layoutPage(page: Page, content: Html, groups: PageGroup[], assets: Assets): Html {
  const pages = groups.flatMap(group => group.pages);
  const index = pages.indexOf(page);
  const [before, after] = [pages[index - 1], pages[index + 1]];
  const sections = sectionsOf(content.text).filter(({ level }) => level === 2);
  const main = html`<main id="content" tabindex="-1">
<article>
${content}
</article>
<nav class="turn" aria-label="Previous and next page">
${before && html`<a rel="prev" href="${before.path}"><small>Previous</small> ${before.title}</a>\n`}${after && html`<a rel="next" href="${after.path}"><small>Next</small> ${after.title}</a>\n`}</nav>
</main>${sections.length > 1 && contentsOf(sections)}`;
  return shell(
    {
      title: `${page.title} · Kopeck`,
      description: `${page.title}: documentation of the Kopeck partner API`,
      content: main,
      sideBar: sideBarOf(page, groups),
      scripts: page.path === '/docs/' ? [...scripts, 'old-links.js'] : scripts,
    },
    assets,
  );
}

const sideBarOf = (current: Page, groups: PageGroup[]) => html`<nav id="menu" aria-label="Documentation">
${groups.map(
  ({ name, pages }, index) => html`<p class="group" id="group-${index}">${name}</p>
<ul aria-labelledby="group-${index}">
${pages.map(page => html`<li>${linkTo(page, page === current)}</li>\n`)}</ul>
`,
)}</nav>`;

const linkTo = ({ path, title, label, operation }: Page, isCurrent: boolean): Part =>
  html`<a href="${path}"${isCurrent && html` aria-current="page"`}${operation !== undefined && html` data-operation="${operation}" title="${title}"`}>${label ?? title}</a>`;

const contentsOf = (sections: Section[]) => html`
<nav class="contents" aria-label="On this page">
<p class="group">On this page</p>
<ul>
${sections.map(({ id, heading }) => html`<li><a href="#${id}">${heading}</a></li>\n`)}</ul>
</nav>`;
