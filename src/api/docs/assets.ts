import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { createStaticFile } from '../http/static-file.ts';

const folder = join(import.meta.dirname, 'assets');

const typeOf: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'application/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export type Assets = ReturnType<typeof readAssets>;

/** As text, to draw it in other formats. */
export const readIcon = () => readFileSync(join(folder, 'icon.svg'), 'utf8');

/**
 * The style sheet, the scripts and the icon. Their folder has the digest of all of them in its name, so browsers keep
 * them, and a script can import another one by its plain name.
 */
export function readAssets() {
  const names = readdirSync(folder).sort();
  const contents = names.map(name => readFileSync(join(folder, name)));
  const digest = contents
    .reduce((hash, content) => hash.update(content), createHash('sha256'))
    .digest('base64url');
  /** The address of an asset. */
  const path = (name: string) => `/docs/assets/${digest.slice(0, 16)}/${name}`;
  return {
    path,
    files: new Map(
      names.map((name, index) => [
        path(name),
        createStaticFile(typeOf[extname(name)]!, contents[index]!, 'public, max-age=31536000, immutable'),
      ]),
    ),
  };
}
