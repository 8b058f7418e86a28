import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idFromUuid, newId, parseId, uuidFromId } from '../../src/base/ids.ts';
import { manualClock } from '../helpers/clock.ts';
import { words } from '../helpers/words.ts';

describe('ids', () => {
  test('sort in the order in which they were made, also within a millisecond and when the clock goes back', () => {
    const clock = manualClock('2030-01-01T00:00:00Z');
    const ids = Array.from({ length: 5_000 }, (_, index) => {
      if (index % 2_500 === 2_499) clock.advance(-50);
      return newId('pay', clock);
    });
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('are version 7 UUIDs that carry the time', () => {
    const uuid = uuidFromId(newId('prt', manualClock('2035-05-05T05:05:05.123Z')));
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Date(Number.parseInt(uuid.replace('-', '').slice(0, 12), 16)).toISOString()).toBe(
      '2035-05-05T05:05:05.123Z',
    );
  });

  test('convert to a UUID and back', () => {
    fc.assert(
      fc.property(fc.uuid(), uuid => {
        const id = idFromUuid('whd', uuid);
        expect(parseId('whd', id)).toBe(id);
        expect(uuidFromId(id)).toBe(uuid);
      }),
    );
  });

  test('known vector of the TypeID specification', () => {
    expect(idFromUuid('pay', '01890a5d-ac96-774b-bcce-b302099a8057')).toBe('pay_01h455vb4pex5vsknk084sn02q');
  });

  test.each([
    ...['', ' pay_01h455vb4pex5vsknk084sn02q'],
    ...words(`pay_ pay prt_01h455vb4pex5vsknk084sn02q pay_81h455vb4pex5vsknk084sn02q
      pay_01h455vb4pex5vsknk084sn02 pay_01h455vb4pex5vsknk084sn02qq pay_01H455VB4PEX5VSKNK084SN02Q
      pay_01h455vb4pex5vsknk084sn02u`),
  ])('%j is not an id of a payment', text => {
    expect(parseId('pay', text)).toBeUndefined();
  });
});
