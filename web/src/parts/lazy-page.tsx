import { type ComponentType, use } from 'react';
import { orReload } from './or-reload.ts';

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
