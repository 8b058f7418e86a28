import { type ComponentType, use } from 'react';

/**
 * Pages are loaded one by one. React's own `lazy` shows each of them a third of a second late the first time, even one
 * that is there already; this shows what is there at once. The others are fetched when there is nothing else to do.
 */
export function later<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) {
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

/** What cannot be had now is asked for again by whoever goes there. */
export async function loadTheRest(): Promise<void> {
  for (const fetchPage of pages) await fetchPage().catch(() => {});
}
