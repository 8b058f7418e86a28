import { parseId } from '../base/ids.ts';

const maxLength = 200;
const maxSegments = 8;
/** Words as in the routes of the API. */
const word = /^[a-z][a-z_-]{0,23}$/;
const hidden = '…';

/**
 * What is stored of a URL that has no route. Anybody may put anything into it, such as a key or a phone number. So only words and
 * ids of payments stay, and nothing of the query string.
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
  segment === '' || segment === 'v1' || word.test(segment) || parseId('pay', segment) !== undefined;
