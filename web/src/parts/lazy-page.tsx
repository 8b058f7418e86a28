import { type ComponentType, use } from 'react';

const failureShownMs = 1000;

/**
 * Loads each page on demand. React's own `lazy` shows a page a third of a second late the first time, even when it is
 * already loaded; this one shows it at once. The other pages are preloaded when the browser is idle.
 */
export function lazyPage<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) {
  let Page: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const fetchPage = () => {
    loading ??= load().then(
      loaded => {
        Page = loaded.default;
      },
      error => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  pages.push(fetchPage);
  let opening: Promise<void> | undefined;
  /** Not for a preload: the operator has not asked for that page, and may be filling in a form. */
  const openPage = () => {
    opening ??= orReload(fetchPage()).catch(error => {
      // React renders again before it shows the failure; with another promise it would wait, and ask again, without end.
      setTimeout(() => (opening = undefined), failureShownMs);
      throw error;
    });
    return opening;
  };
  // biome-ignore lint/correctness/noComponentHookFactories: made once for each page, when the module is read
  return function Later(props: Props) {
    if (!Page) use(openPage());
    return Page && <Page {...props} />;
  };
}

const pages: (() => Promise<void>)[] = [];

/** A page that cannot be preloaded is loaded again when it is opened. */
export async function preloadPages(): Promise<void> {
  for (const fetchPage of pages) await fetchPage().catch(() => {});
}

const reloadedKey = 'kopeck-reloaded';
/** While two versions run side by side, the next load may get a mix of them again: then the reader decides. */
const onceInMs = 60_000;

/**
 * Loads a part of the pages. After an update its file may be gone, since its name contains a hash of its content: then the
 * page is reloaded, and gets the current names. Without a connection a reload would only lose the page.
 */
export async function orReload<Part>(loading: Promise<Part>): Promise<Part> {
  try {
    return await loading;
  } catch (error) {
    if (!mayReload() || !(await isServed())) throw error;
    sessionStorage.setItem(reloadedKey, `${Date.now()}`);
    location.reload();
    // Nothing may be shown until the reload.
    return new Promise(() => {});
  }
}

function mayReload(): boolean {
  const sinceMs = Date.now() - Number(sessionStorage.getItem(reloadedKey));
  // A clock that was set back must not forbid it for long.
  return sinceMs > onceInMs || sinceMs < 0;
}

const isServed = () =>
  fetch(import.meta.env.BASE_URL, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
