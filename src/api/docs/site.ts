import { setImmediate as nextTurn } from 'node:timers/promises';
import { createStaticFile, type StaticFile } from '../http/static-file.ts';
import { readAssets, readIcon } from './assets.ts';
import { drawFavicon } from './favicon.ts';
import { llms, markdownOf, robots } from './for-programs.ts';
import { missingPage } from './home-page.ts';
import type { Html } from './html.ts';
import { landingPage, type Surroundings } from './landing-page.ts';
import { type Frame, layoutMissing, layoutPage, type Place, shell } from './layout.ts';
import { type Language, languages, localPath, siteTexts } from './locale.ts';
import { listPages } from './pages.ts';
import type { ApiDocument } from './reference/document.ts';
import { translateDocument } from './reference/translate.ts';
import { searchEntriesOf } from './sections.ts';
import { referenceInRussian } from './texts/reference.ru.ts';

export type Site = Awaited<ReturnType<typeof createSite>>;

type Make = () => Promise<StaticFile>;

const page = (content: Html) => createStaticFile('text/html; charset=utf-8', content.text);
const plainText = (content: string) => createStaticFile('text/plain; charset=utf-8', content);

/** Browsers ask for it again and again. */
const keepForADay = 'public, max-age=86400';
const favicon = async () => createStaticFile('image/x-icon', await drawFavicon(readIcon()), keepForADay);

/** The documentation as files: its pages in every language, what they load, and what programs read. */
export async function createSite(document: ApiDocument, surroundings: Surroundings) {
  const frame: Frame = { assets: readAssets(), publicUrl: surroundings.publicUrl };
  const places = await Promise.all(languages.map(language => openPlace(language, document, surroundings)));

  const makers = new Map<string, Make>([
    ...places.flatMap(place => makersOf(place, surroundings, frame)),
    ...Array.from(frame.assets.files, ([path, file]) => [path, async () => file] as const),
    ['/robots.txt', async () => plainText(robots)],
    ['/llms.txt', async () => plainText(llms(places, surroundings.publicUrl))],
  ]);
  const ahead = [...makers.keys()];
  // Not ahead: few callers ask for it, and drawing it loads native code.
  makers.set('/favicon.ico', favicon);

  const made = new Map<string, Promise<StaticFile>>();
  /** The file at a path. Each is made on the first request for it. */
  function find(path: string): Promise<StaticFile> | undefined {
    const known = made.get(path) ?? makers.get(path)?.();
    if (!known) return undefined;
    made.set(path, known);
    known.catch(() => made.delete(path));
    return known;
  }

  /** Makes all files ahead, one per turn, so that other requests do not wait. */
  async function renderAll(): Promise<void> {
    for (const path of ahead) {
      await find(path);
      await nextTurn();
    }
  }

  const missing = new Map(places.map(place => [place.language, missingFile(place, frame)]));
  return {
    find,
    has: (path: string) => makers.has(path),
    /** What answers for a path where nothing is. */
    missing: (language: Language) => missing.get(language)!,
    renderAll,
  };
}

async function openPlace(
  language: Language,
  document: ApiDocument,
  { botName }: Surroundings,
): Promise<Place> {
  const texts = siteTexts[language];
  const translated =
    language === 'ru' ? translateDocument(document, text => referenceInRussian[text] ?? text) : document;
  return { language, groups: await listPages(language, { document: translated, texts }, botName) };
}

/** How the files in one language are made. */
function makersOf(place: Place, surroundings: Surroundings, frame: Frame): (readonly [string, Make])[] {
  const { language, groups } = place;
  const pages = groups.flatMap(group => group.pages);
  const at = (path: string) => localPath(path, language);
  return [
    [at('/'), async () => page(landing(language, surroundings, frame))],
    [at('/docs/search.json'), () => searchIndex(place)],
    ...pages.map(
      one => [at(one.path), async () => page(layoutPage(one, one.render(), place, frame))] as const,
    ),
    ...pages.flatMap(({ source }) =>
      source ? [[at(source.path), async () => markdown(markdownOf(source, place))] as const] : [],
    ),
  ];
}

const markdown = (content: string) => createStaticFile('text/markdown; charset=utf-8', content);

function landing(language: Language, surroundings: Surroundings, frame: Frame): Html {
  const texts = siteTexts[language];
  const { title, description } = texts.landing;
  const content = landingPage(texts, surroundings);
  return shell({ language, path: '/', title, description, content, styles: ['landing.css'] }, frame);
}

function missingFile(place: Place, frame: Frame): StaticFile {
  const texts = siteTexts[place.language];
  return page(layoutMissing(texts.notFound.title, missingPage(texts), place, frame));
}

/** Renders all pages, so other requests get their turn in between. */
async function searchIndex({ language, groups }: Place): Promise<StaticFile> {
  const entries = [];
  for (const one of groups.flatMap(group => group.pages)) {
    const local = { ...one, path: localPath(one.path, language) };
    entries.push(...searchEntriesOf(local, one.render().text));
    await nextTurn();
  }
  return createStaticFile('application/json; charset=utf-8', JSON.stringify(entries));
}
