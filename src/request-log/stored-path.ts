import { parseId } from '../base/ids.ts';

const maxLength = 200;
const maxSegments = 8;
/** All words of the routes of the API. */
const words = new Set(
  'v1 payments qr resolve quote rate balance events statement ping test clock deposits deposit_addresses refunds'.split(
    ' ',
  ),
);
const hidden = '…';

/**
 * What is stored of a URL that has no route. Anybody may put anything into it, such as a key or a name. So only words of routes
 * and ids of payments stay, and nothing of the query string.
 */
export function storedPath(url: string): string {
  const end = url.indexOf('?');
  const path = (end < 0 ? url : url.slice(0, end)).slice(0, maxLength);
  return path
    .split('/', maxSegments)
    .map(segment => (isHarmless(segment) ? segment : hidden))
    .join('/');
}

const isHarmless = (segment: string) =>
  segment === '' || words.has(segment) || parseId('pay', segment) !== undefined;
