import Type from 'typebox';
import { type Id, parseId } from '../base/ids.ts';
import type { Page } from './shapes.ts';

/** Shapes of fields that several routes accept. They check that a field can be parsed, not whether it makes sense. */
export const Rubles = Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,2})?$' });
export const Usdt = Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$' });
export const Mode = Type.Union([Type.Literal('live'), Type.Literal('test')]);
export const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' });
export const Instant = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d)$',
});
export const Text = Type.String({ minLength: 1, maxLength: 256 });

/** A numeric id in a URL; undefined if it is not a number. */
export const readNumber = (text: string) => (/^\d{1,18}$/.test(text) ? BigInt(text) : undefined);

/** Which endpoint of a partner is meant: undefined for the usual one, null if the text is no id. */
export const readEndpoint = (text: string | undefined): Id<'whe'> | undefined | null =>
  text === undefined ? undefined : (parseId('whe', text) ?? null);

/** A page of rows, of which one more than `limit` was read; `cursorOf` gives the start of the next page. */
export function pageOf<Item, Row>(
  items: Item[],
  limit: number,
  cursorOf: (last: Item) => string,
  toRow: (item: Item) => Row,
): Page<Row> {
  const shown = items.slice(0, limit);
  return {
    data: shown.map(toRow),
    next_cursor: items.length > limit ? cursorOf(shown.at(-1)!) : null,
  };
}
