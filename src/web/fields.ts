import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { type Id, type IdKind, parseId } from '../base/ids.ts';
import { parseInstant } from '../base/instants.ts';
import { isAddressRange } from '../partners/index.ts';
import { type Refused, refuse } from './replies.ts';

/** Shapes of fields that several routes accept. They check that a field can be parsed, not whether it makes sense. */
export const Rubles = Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,2})?$' });
export const Usdt = Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$' });
export const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' });
export const Instant = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d)$',
});
export const Text = Type.String({ minLength: 1, maxLength: 256 });
export const SearchText = Type.Optional(Type.String({ maxLength: 2_048 }));
/** Of a union of as many values as there are, the package makes the type `never`: so it is said here. */
export const oneOf = <Value extends string>(...values: readonly Value[]) =>
  Type.Union(values.map(value => Type.Literal(value))) as Type.TSchema as Type.TUnsafe<Value>;
export const Mode = oneOf('live', 'test');
export const StatementFormat = oneOf('csv', 'json');

type ReadField = <Value>(
  text: string | undefined,
  parse: (text: string) => Value | undefined,
) => Value | undefined;

/** The fields of a filter that are given; undefined when one of them cannot be parsed. */
export function readFields<Filter extends object>(
  readAll: (read: ReadField) => Filter,
): Partial<Filter> | undefined {
  let isValid = true;
  const filter = readAll((text, parse) => {
    const value = text ? parse(text) : undefined;
    if (text && value === undefined) isValid = false;
    return value;
  });
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return isValid ? (Object.fromEntries(given) as Partial<Filter>) : undefined;
}

/** The filters of every payment search. */
export const paymentFilters = {
  q: SearchText,
  status: Type.Optional(oneOf('processing', 'succeeded', 'failed')),
  created_after: SearchText,
  created_before: SearchText,
};
const PaymentFilters = Type.Object(paymentFilters);

export const readPaymentFilters = (query: Type.Static<typeof PaymentFilters>, read: ReadField) => ({
  status: query.status,
  createdFrom: read(query.created_after, parseInstant),
  createdBefore: read(query.created_before, parseInstant),
});

/** A numeric id in a URL; undefined if it is not a number. */
export const readNumber = (text: string) => (/^\d{1,18}$/.test(text) ? BigInt(text) : undefined);

/** Finds the id in the path of a route, which is refused if it is none. */
export const idOr =
  <Kind extends IdKind>(kind: Kind, refusal: Refused) =>
  ({ params }: FastifyRequest) =>
    parseId(kind, (params as { id: string }).id) ?? refusal;

/** Which endpoint of a partner is meant: undefined for the usual one, null if the text is no id. */
export const readEndpoint = (text: string | undefined): Id<'whe'> | undefined | null =>
  text === undefined ? undefined : (parseId('whe', text) ?? null);

/** The addresses from which a key may be used. */
export function readAddresses(sent: string[]): string[] | Refused {
  const addresses = sent.map(address => address.trim());
  const wrong = addresses.find(address => !isAddressRange(address));
  if (wrong === undefined) return addresses;
  const message = `"${wrong}" is not an IP address or range, such as 192.0.2.7 or 2001:db8::/32.`;
  return refuse(400, 'invalid_request', message);
}

/** The next page is requested with `?after=` and this cursor. */
export interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

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
