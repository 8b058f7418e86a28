const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function decode(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|lt|gt|quot|apos|amp);/gi, (_all, name: string) => {
    if (!name.startsWith('#')) return entities[name.toLowerCase()]!;
    return String.fromCodePoint(
      /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1)),
    );
  });
}

/** What follows each opening tag. Answers of S3 have neither attributes nor comments in what is read here. */
export const sectionsOf = (xml: string, tag: string) => xml.split(`<${tag}>`).slice(1);

/** The text of the first element of this name. */
export function textOf(xml: string, tag: string): string | undefined {
  const [section] = sectionsOf(xml, tag);
  return section === undefined ? undefined : decode(section.slice(0, section.indexOf('<')));
}

export const encodeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
