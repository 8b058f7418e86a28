/**
 * Lossless JSON: a value is returned exactly as it was sent. `JSON.parse` rounds `12345678901234567890`, turns `1.10`
 * into `1.1`, moves keys that look like numbers to the front and treats `__proto__` as special; partners' `metadata`
 * must survive all four. So objects are Maps (they keep the order of the keys) and numbers keep their source text.
 *
 * Written by hand: no library keeps number text, key order and our rule for duplicate keys (the last one counts).
 */
export class JsonNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

export type JsonValue = null | boolean | string | JsonNumber | JsonValue[] | JsonObject;
export type JsonObject = Map<string, JsonValue>;

export class JsonSyntaxError extends Error {
  readonly position: number;
  constructor(message: string, position: number) {
    super(`${message} at position ${position}`);
    this.position = position;
  }
}

/** No real metadata nests this deep, and no input within it can exhaust the stack. */
const deepest = 256;

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside a string
const string = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const literals = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

const isWhitespace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/**
 * A body of 64 KB has 32 000 values. So a regular expression runs only where a number or a string begins, and makes no
 * list of what it found.
 */
export function parseJson(text: string, maxDepth = deepest): JsonValue {
  let position = 0;

  function fail(message: string): never {
    throw new JsonSyntaxError(message, position);
  }

  function take(token: RegExp): string | undefined {
    token.lastIndex = position;
    if (!token.test(text)) return undefined;
    const start = position;
    position = token.lastIndex;
    return text.slice(start, position);
  }

  function skipWhitespace(): void {
    while (isWhitespace(text.charCodeAt(position))) position += 1;
  }

  function takeCharacter(character: string): boolean {
    skipWhitespace();
    if (text[position] !== character) return false;
    position += 1;
    return true;
  }

  function parseString(): string {
    skipWhitespace();
    const quoted = take(string) ?? fail('expected a string');
    return quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1);
  }

  function parseArray(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    if (takeCharacter(']')) return items;
    do items.push(parseValue(depth));
    while (takeCharacter(','));
    return takeCharacter(']') ? items : fail("expected ',' or ']'");
  }

  function parseObject(depth: number): JsonObject {
    const members: JsonObject = new Map();
    if (takeCharacter('}')) return members;
    do {
      const key = parseString();
      if (!takeCharacter(':')) fail("expected ':'");
      members.set(key, parseValue(depth));
    } while (takeCharacter(','));
    return takeCharacter('}') ? members : fail("expected ',' or '}'");
  }

  function parseValue(depth: number): JsonValue {
    if (depth > maxDepth) fail(`nested deeper than ${maxDepth} levels`);
    if (takeCharacter('{')) return parseObject(depth + 1);
    if (takeCharacter('[')) return parseArray(depth + 1);
    if (text[position] === '"') return parseString();
    const digits = take(number);
    if (digits !== undefined) return new JsonNumber(digits);
    for (const [word, value] of literals) {
      if (text.startsWith(word, position)) {
        position += word.length;
        return value;
      }
    }
    return fail('expected a value');
  }

  const value = parseValue(0);
  skipWhitespace();
  return position === text.length ? value : fail('unexpected text after the value');
}

export function stringifyJson(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.source;
  if (Array.isArray(value)) return `[${value.map(stringifyJson).join(',')}]`;
  if (value instanceof Map) {
    const members = Array.from(value, ([key, member]) => `${JSON.stringify(key)}:${stringifyJson(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

/** The same text for equal values: keys sorted, numbers by value (`1.10` and `11e-1` are equal). For request hashes. */
export function canonicalJson(value: JsonValue): string {
  if (value instanceof JsonNumber) return canonicalNumber(value.source);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value instanceof Map) {
    const keys = [...value.keys()].sort();
    return `{${keys.map(key => `${JSON.stringify(key)}:${canonicalJson(value.get(key)!)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

function canonicalNumber(source: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source)!;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = withoutTrailingZeros(digits);
  if (significant === '') return '0';
  const scale = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${scale}`;
}

/** Not by `/0+$/`, which takes quadratic time: it tries again from every zero of `1000…0001`. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
