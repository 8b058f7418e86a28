/** Text that is HTML already; everything else that goes into a page is escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Html | string | number | false | undefined | Part[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string) => text.replaceAll(/[&<>"]/g, found => entities[found]!);

/** The text of escaped text. */
export const unescapeHtml = (text: string) =>
  Object.entries(entities).reduceRight((rest, [plain, entity]) => rest.replaceAll(entity, plain), text);

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(textOf).join('');
  return part === undefined || part === false ? '' : escapeHtml(String(part));
}

/** A template whose values are escaped unless they are HTML themselves; lists are joined, `false` is nothing. */
export const html = (texts: TemplateStringsArray, ...parts: Part[]) =>
  new Html(texts.map((text, index) => text + textOf(parts[index])).join(''));
