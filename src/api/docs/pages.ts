import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileIn, pageOfFile } from './documents.ts';
import { homePage } from './home-page.ts';
import { type Html, html, type Part } from './html.ts';
import { type Language, siteTexts } from './locale.ts';
import { headingIdsOf, renderMarkdown } from './markdown.ts';
import { type Edition, type Endpoint, endpointsOf, eventPath, operationPath } from './reference/document.ts';
import { errorsPage } from './reference/errors-page.ts';
import { eventPage, operationPage } from './reference/operation-page.ts';
import { overviewPage } from './reference/overview-page.ts';

export interface Page {
  /** In English, as all links in what is rendered; `localPath` has the one in another language. */
  path: string;
  title: string;
  /** What the side bar shows instead of the title. */
  label?: Part;
  /** `POST /v1/payments`, for the page of an endpoint. */
  operation?: string;
  /** The document that it is made of. */
  source?: Source;
  render(): Html;
}

export interface Source {
  /** In English, too. */
  path: string;
  /** Its file in the repository. */
  file: string;
  text: string;
}

export interface PageGroup {
  name: string;
  pages: Page[];
}

const root = join(import.meta.dirname, '..', '..', '..');

/** All pages in the order in which they are read, as the side bar groups them. */
export async function listPages(
  language: Language,
  edition: Edition,
  botName: string | undefined,
): Promise<PageGroup[]> {
  const { texts } = edition;
  const home = { path: '/docs/', title: texts.home.title, render: () => homePage(texts, botName) };
  return [
    { name: texts.groups.start, pages: [home] },
    { name: texts.groups.guides, pages: await guides(language) },
    ...referenceGroups(edition),
    { name: texts.groups.releases, pages: [await documentPage('docs/reference/api-changelog.md', language)] },
  ];
}

/** The guides in the order of their list, `docs/guides/README.md`, the client library, and further packages. */
async function guides(language: Language): Promise<Page[]> {
  const list = await readDocument('docs/guides/README.md');
  const names = Array.from(list.matchAll(/\]\(([\w-]+)\.md\)/g), ([, name]) => name!);
  const { pages } = siteTexts[language];
  return Promise.all([
    documentPage('docs/guides/README.md', language).then(page => ({ ...page, label: pages.guides })),
    ...names.map(name => documentPage(`docs/guides/${name}.md`, language)),
    documentPage('sdk/README.md', language).then(page => ({ ...page, title: pages.library })),
    ...['python', 'php', 'cli'].map(name => documentPage(`sdk-${name}/README.md`, language)),
  ]);
}

const readDocument = (file: string) => readFile(join(root, file), 'utf8');

/** A document in a language; its headings have the ids of the document in English, so that links fit every language. */
async function documentPage(inEnglish: string, language: Language): Promise<Page> {
  const file = fileIn(inEnglish, language);
  const [text, original] = await Promise.all([readDocument(file), readDocument(inEnglish)]);
  const path = pageOfFile(inEnglish)!;
  const title = /^# (.*)$/m.exec(text)?.[1] ?? file;
  return {
    path,
    title: title.replaceAll('`', ''),
    source: { path: `${path.replace(/\/$/, '')}.md`, file, text },
    render: () => renderMarkdown(text, file, siteTexts[language], headingIdsOf(original)),
  };
}

function referenceGroups(edition: Edition): PageGroup[] {
  const { document, texts } = edition;
  const overview = {
    path: '/docs/reference/',
    title: texts.reference.title,
    label: texts.pages.overview,
    render: () => overviewPage(edition),
  };
  const errors = {
    path: '/docs/reference/errors',
    title: texts.errors.title,
    render: () => errorsPage(edition),
  };
  const endpoints = endpointsOf(document).map(endpoint => endpointPage(endpoint, edition));
  return [
    { name: texts.groups.reference, pages: [overview, ...endpoints, errors] },
    {
      name: texts.groups.events,
      pages: Object.keys(document.webhooks).map(event => ({
        path: eventPath(event),
        title: event,
        render: () => eventPage(event, edition),
      })),
    },
  ];
}

function endpointPage(endpoint: Endpoint, edition: Edition): Page {
  const { method, path, operation } = endpoint;
  return {
    path: operationPath(operation),
    title: operation.summary,
    label: html`<span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>`,
    operation: `${method} ${path}`,
    render: () => operationPage(endpoint, edition),
  };
}
