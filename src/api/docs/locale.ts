import { Html } from './html.ts';
import { type SiteTexts, siteInEnglish } from './texts/site.en.ts';
import { siteInRussian } from './texts/site.ru.ts';

/** The first one is the language of the pages without a language in their path. */
export const languages = ['en', 'ru'] as const;
export type Language = (typeof languages)[number];

/** As readers of the language write it. */
export const languageNames: Record<Language, string> = { en: 'English', ru: 'Русский' };

export type { SiteTexts };

/** What the site says itself. */
export const siteTexts: Record<Language, SiteTexts> = { en: siteInEnglish, ru: siteInRussian };

/** Where a page is in a language: `/docs/guides/webhooks` is `/docs/ru/guides/webhooks` in Russian, and `/` is `/ru/`. */
export function localPath(path: string, language: Language): string {
  if (language === 'en') return path;
  return path.startsWith('/docs/') ? path.replace('/docs/', `/docs/${language}/`) : `/${language}${path}`;
}

/** The language of a path, also of one where nothing is. */
export const languageOf = (path: string): Language => (/^\/(?:docs\/)?ru(?:\/|$)/.test(path) ? 'ru' : 'en');

const isPage = (path: string) =>
  path === '/' || path === '/status' || (path.startsWith('/docs/') && !path.startsWith('/docs/assets/'));

/** Everything is written with links to the pages in English. In another language they lead to the pages in that language. */
export const localLinks = ({ text }: Html, language: Language) =>
  new Html(
    text.replaceAll(/ href="(\/[^"]*)"/g, (link, path: string) =>
      isPage(path) ? ` href="${localPath(path, language)}"` : link,
    ),
  );
