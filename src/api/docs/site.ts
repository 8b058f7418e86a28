import { setImmediate as nextTurn } from 'node:timers/promises';
import { createStaticFile, type StaticFile } from '../http/static-file.ts';
import { readAssets } from './assets.ts';
import type { Html } from './html.ts';
import { landingPage } from './landing-page.ts';
import { layoutPage } from './layout.ts';
import { listPages } from './pages.ts';
import type { ApiDocument } from './reference/document.ts';
import { searchEntriesOf } from './sections.ts';

export type Site = Awaited<ReturnType<typeof createSite>>;

const page = (content: Html) => createStaticFile('text/html; charset=utf-8', content.text);

/** The documentation as files: its pages, their assets, and the index of the search. */
export async function createSite(document: ApiDocument, botName: string | undefined) {
  const assets = readAssets();
  const groups = await listPages(document, botName);
  const pages = groups.flatMap(group => group.pages);

  /** Renders all pages, so other requests get their turn in between. */
  async function searchIndex(): Promise<StaticFile> {
    const entries = [];
    for (const one of pages) {
      entries.push(...searchEntriesOf(one, one.render().text));
      await nextTurn();
    }
    return createStaticFile('application/json; charset=utf-8', JSON.stringify(entries));
  }

  const makers = new Map<string, () => Promise<StaticFile>>([
    ['/', async () => page(landingPage(assets, botName))],
    ['/docs/search.json', searchIndex],
    ...pages.map(one => [one.path, async () => page(layoutPage(one, one.render(), groups, assets))] as const),
    ...Array.from(assets.files, ([path, file]) => [path, async () => file] as const),
  ]);
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
    for (const path of makers.keys()) {
      await find(path);
      await nextTurn();
    }
  }

  return { find, has: (path: string) => makers.has(path), renderAll };
}
