import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { JsonSyntaxError, parseJson, stringifyJson } from '../../src/base/json.ts';
import { words } from '../helpers/words.ts';

const roundTrip = (text: string) => stringifyJson(parseJson(text));

describe('lossless JSON', () => {
  test.each([
    ...words(
      '12345678901234567890 1.10 1e400 -0 1E+2 0.1000 {"2":1,"1":2,"b":3,"a":4} [[],{},"",null,true,false]',
    ),
    ...['{"__proto__":{"polluted":true},"constructor":1,"toString":null}', '"Копейка 💸"'],
    String.raw`"\"\\/\b\f\n\r\t"`,
  ])('%s comes back as sent', text => {
    expect(roundTrip(text)).toBe(text);
  });

  test('only whitespace between tokens is dropped', () => {
    expect(roundTrip(' { "a" : [ 1.0 , 2 ] ,\n"b":\t"x y" } ')).toBe('{"a":[1.0,2],"b":"x y"}');
  });

  test('escapes are decoded', () => {
    expect(roundTrip(String.raw`"\u0041\/\u043a"`)).toBe('"A/к"');
  });

  test('of a duplicate key the last value counts, as in JSON.parse', () => {
    expect(roundTrip('{"a":1,"b":2,"a":3}')).toBe('{"a":3,"b":2}');
  });

  test('accepts what JSON.parse accepts, with the same meaning', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        expect(JSON.parse(roundTrip(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('refuses what JSON.parse refuses', () => {
    const accepts = (parse: (text: string) => unknown, text: string) => {
      try {
        parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const nearJson = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', '"', '}', ']', '\\', '01', 'e', '-', '\u0001', ':'),
      )
      .map(
        ([text, at, noise]) =>
          text.slice(0, at % (text.length + 1)) + noise + text.slice(at % (text.length + 1)),
      );
    fc.assert(
      fc.property(nearJson, text => {
        return accepts(parseJson, text) === accepts(JSON.parse, text);
      }),
      { numRuns: 1_000 },
    );
  });

  test('too deep nesting is an error and not a crash', () => {
    expect(() => parseJson('['.repeat(60_000))).toThrow(JsonSyntaxError);
    expect(() => parseJson('{"a":'.repeat(12_000))).toThrow(JsonSyntaxError);
  });

  test('a very long string is read', () => {
    const text = JSON.stringify('\\"x'.repeat(100_000));
    expect(roundTrip(text)).toBe(text);
  });

  test('of many small values each takes one regular expression', () => {
    const text = `[${Array.from({ length: 10_000 }, () => '1').join(',')}]`;
    const run = vi.spyOn(RegExp.prototype, 'exec');
    parseJson(text);
    const { length: runs } = run.mock.calls;
    run.mockRestore();
    expect(runs).toBe(10_000);
  });

  test('an error names the position', () => {
    expect(() => parseJson('{"a":1,}')).toThrow('expected a string at position 7');
  });
});
