import type { Assets } from './assets.ts';
import { type Html, html, type Part } from './html.ts';
import {
  type Language,
  languageNames,
  languages,
  localLinks,
  localPath,
  type SiteTexts,
  siteTexts,
} from './locale.ts';
import type { Page, PageGroup } from './pages.ts';
import { type Section, sectionsOf } from './sections.ts';

/** What all pages of the site have in common. */
export interface Frame {
  assets: Assets;
  /** Undefined: links to the other languages are without a host. */
  publicUrl?: string | undefined;
}

interface Shell {
  language: Language;
  /** Of the page in English; undefined for a page that answers for a path where nothing is. */
  path: string | undefined;
  /** Of its source, if it has one. */
  sourcePath?: string | undefined;
  title: string;
  description: string;
  content: Html;
  /** Beside the content. */
  sideBar?: Html;
  /** Besides those of every page. */
  styles?: string[];
  scripts?: string[];
}

const stylesEverywhere = ['site.css', 'content.css'];
const scriptsEverywhere = ['copy.js', 'language.js', 'theme.js'];

/** A page as every page here is: nothing inline, nothing from another host. */
export function shell(page: Shell, frame: Frame): Html {
  const { language, title, description, content, sideBar, styles = [], scripts = [] } = page;
  const { assets } = frame;
  const texts = siteTexts[language];
  const { copy, copied, pressToCopy, language: codeLanguage } = texts.code;
  const body = sideBar ? html`<div class="columns">\n${sideBar}\n${content}\n</div>` : content;
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<link rel="icon" href="/favicon.ico" sizes="32x32">
<link rel="icon" type="image/svg+xml" href="${assets.path('icon.svg')}">
${alternates(page, frame)}${[...stylesEverywhere, ...styles].map(name => html`<link rel="stylesheet" href="${assets.path(name)}">\n`)}<script src="${assets.path('first.js')}"></script>
${[...scriptsEverywhere, ...scripts].map(name => html`<script type="module" src="${assets.path(name)}"></script>\n`)}</head>
<body data-copy="${copy}" data-copied="${copied}" data-press-to-copy="${pressToCopy}" data-code-language="${codeLanguage}">
<a class="skip" href="#content">${texts.frame.skip}</a>
<header>
<a class="brand" href="${localPath('/', language)}"><img src="${assets.path('icon.svg')}" alt="" width="24" height="24">Kopeck</a>
${sideBar && searchField(language, texts)}${otherLanguages(page)}${themeChoice(texts)}${sideBar && menuButton(texts)}</header>
${localLinks(body, language)}
</body>
</html>
`;
}

/** The same page in every language, for search engines; and its source, for programs. */
function alternates({ path, sourcePath, language }: Shell, { publicUrl }: Frame): Part {
  if (path === undefined) return undefined;
  const addressOf = (one: Language) => {
    const local = localPath(path, one);
    return publicUrl === undefined ? local : new URL(local, publicUrl).href;
  };
  return [
    ...languages.map(one => html`<link rel="alternate" hreflang="${one}" href="${addressOf(one)}">\n`),
    html`<link rel="alternate" hreflang="x-default" href="${addressOf('en')}">\n`,
    sourcePath !== undefined &&
      html`<link rel="alternate" type="text/markdown" href="${localPath(sourcePath, language)}">\n`,
  ];
}

/** Where there is no page, to the first page in the other language. */
const otherLanguages = ({ path = '/docs/', language }: Shell): Part =>
  languages
    .filter(one => one !== language)
    .map(
      one =>
        html`<a class="language" lang="${one}" hreflang="${one}" href="${localPath(path, one)}">${languageNames[one]}</a>\n`,
    );

/** It needs a script, which shows it; so do the theme and the menu. */
function searchField(language: Language, { search }: SiteTexts): Html {
  const { placeholder, label, found, foundMore, none, failed } = search;
  return html`<search hidden data-index="${localPath('/docs/search.json', language)}" data-found="${found}" data-found-more="${foundMore}" data-none="${none}" data-failed="${failed}">
<input type="search" id="search" placeholder="${placeholder}" aria-label="${label}" autocomplete="off" spellcheck="false">
<div class="results" hidden><p role="status"></p><ul></ul></div>
</search>
`;
}

const themeChoice = ({ frame: { theme, themes } }: SiteTexts) =>
  html`<label class="theme" hidden>${theme} <select><option value="">${themes.system}</option><option value="light">${themes.light}</option><option value="dark">${themes.dark}</option></select></label>
`;

const menuButton = ({ frame: { menu } }: SiteTexts) =>
  html`<button type="button" class="menu" aria-expanded="false" aria-controls="menu" hidden>${menu}</button>
`;

const scripts = ['menu.js', 'search.js', 'tabs.js'];
const scriptsOf = ({ path, operation }: Page) => [
  ...scripts,
  ...(path === '/docs/' ? ['old-links.js'] : []),
  ...(operation === undefined ? [] : ['try.js']),
];

/** A page of the documentation in a language, between the others. */
export interface Place {
  language: Language;
  groups: PageGroup[];
}

/** A page of the documentation with its side bar, its contents, and the pages before and after it. */
export function layoutPage(page: Page, content: Html, { language, groups }: Place, frame: Frame): Html {
  const { frame: texts } = siteTexts[language];
  const pages = groups.flatMap(group => group.pages);
  const index = pages.indexOf(page);
  const [before, after] = [pages[index - 1], pages[index + 1]];
  const sections = sectionsOf(content.text).filter(({ level }) => level === 2);
  const main = html`<main id="content" tabindex="-1">
<article>
${content}
</article>
<nav class="turn" aria-label="${texts.turn}">
${before && html`<a rel="prev" href="${before.path}"><small>${texts.previous}</small> ${before.title}</a>\n`}${after && html`<a rel="next" href="${after.path}"><small>${texts.next}</small> ${after.title}</a>\n`}</nav>
</main>${sections.length > 1 && contentsOf(sections, texts)}`;
  return shell(
    {
      language,
      path: page.path,
      sourcePath: page.source?.path,
      title: `${page.title} · Kopeck`,
      description: texts.description(page.title),
      content: main,
      sideBar: sideBarOf(page, groups, texts),
      scripts: scriptsOf(page),
    },
    frame,
  );
}

/** What answers for a path of the documentation where nothing is. */
export function layoutMissing(title: string, content: Html, { language, groups }: Place, frame: Frame): Html {
  const { frame: texts } = siteTexts[language];
  return shell(
    {
      language,
      path: undefined,
      title: `${title} · Kopeck`,
      description: title,
      content: html`<main id="content" tabindex="-1">
<article>
${content}
</article>
</main>`,
      sideBar: sideBarOf(undefined, groups, texts),
      scripts,
    },
    frame,
  );
}

type FrameTexts = SiteTexts['frame'];

const sideBarOf = (current: Page | undefined, groups: PageGroup[], { documentation }: FrameTexts) =>
  html`<nav id="menu" aria-label="${documentation}">
${groups.map(
  ({ name, pages }, index) => html`<p class="group" id="group-${index}">${name}</p>
<ul aria-labelledby="group-${index}">
${pages.map(page => html`<li>${linkTo(page, page === current)}</li>\n`)}</ul>
`,
)}</nav>`;

const linkTo = ({ path, title, label, operation }: Page, isCurrent: boolean): Part =>
  html`<a href="${path}"${isCurrent && html` aria-current="page"`}${operation !== undefined && html` data-operation="${operation}" title="${title}"`}>${label ?? title}</a>`;

const contentsOf = (sections: Section[], { contents }: FrameTexts) => html`
<nav class="contents" aria-label="${contents}">
<p class="group">${contents}</p>
<ul>
${sections.map(({ id, heading }) => html`<li><a href="#${id}">${heading}</a></li>\n`)}</ul>
</nav>`;
