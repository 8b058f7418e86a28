import { type ComponentType, use } from 'react';

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
  // biome-ignore lint/correctness/noComponentHookFactories: made once for each page, when the module is read
  return function Later(props: Props) {
    if (!Page) use(fetchPage());
    return Page && <Page {...props} />;
  };
}

const pages: (() => Promise<void>)[] = [];

/** A page that cannot be preloaded is loaded again when it is opened. */
export async function preloadPages(): Promise<void> {
  for (const fetchPage of pages) await fetchPage().catch(() => {});
}
