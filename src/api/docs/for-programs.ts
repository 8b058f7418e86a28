import type { Place } from './layout.ts';
import { languageNames, languages, localPath, siteTexts } from './locale.ts';
import { linkSource } from './markdown.ts';
import type { Source } from './pages.ts';

/** For search engines: the landing page and the documentation, but neither the API nor pages that need a sign-in. */
export const robots = `User-agent: *
Disallow: /v1/
Disallow: /console
Disallow: /portal
Allow: /
`;

const pagesOf = ({ groups }: Place) => groups.flatMap(group => group.pages);

/** The source of a page; its links lead to the sources of other pages in the same language, where they have one. */
export function markdownOf({ file, text }: Source, place: Place): string {
  const sources = new Map(pagesOf(place).map(({ path, source }) => [path, source?.path ?? path]));
  return linkSource(text, file, path => {
    const source = sources.get(path);
    return source === undefined ? path : localPath(source, place.language);
  });
}

/** For language models (llmstxt.org): where the documentation is as Markdown. */
export function llms(places: Place[], publicUrl: string | undefined): string {
  const addressOf = (path: string) => (publicUrl === undefined ? path : new URL(path, publicUrl).href);
  const sections = places.map(place => {
    const { llms: texts, landing } = siteTexts[place.language];
    const openapi = `- [${landing.links.openapi.title}](${addressOf('/openapi.json')}): ${texts.openapi}`;
    const lines = pagesOf(place).flatMap(({ title, source }) =>
      source ? [`- [${title}](${addressOf(localPath(source.path, place.language))})`] : [],
    );
    return `## ${languageNames[place.language]}\n\n${[...lines, openapi].join('\n')}\n`;
  });
  const leads = languages.map(language => `> ${siteTexts[language].llms.lead}\n`);
  return ['# Kopeck\n', leads.join('>\n'), ...sections].join('\n');
}
