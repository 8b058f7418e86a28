import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/pool.ts';
import { countWaiting } from '../helpers/locks.ts';
import { startDeliveryWorld, untilReceived } from '../webhooks/delivery-world.ts';
import { functionOfPreviousRelease, hasPreviousRelease } from './previous-release.ts';

const { pool, clock, newPartner } = await startDeliveryWorld();
const functions = ['payments_finish', 'payments_open', 'queue_deliveries'];
const current = (name: string) =>
  readFileSync(new URL(`../../database/functions/${name}.sql`, import.meta.url), 'utf8');

test.skipIf(!hasPreviousRelease)(
  'a payment whose opening runs while the functions are replaced has its webhook',
  async () => {
    const { partnerId, pay, receiver } = await newPartner();
    for (const name of functions) await pool.query(functionOfPreviousRelease(name));
    expect(await pay()).toBeTruthy();

    let paid: Promise<string> | undefined;
    await transaction(pool, async locked => {
      await locked.query({
        text: 'SELECT FROM accounts WHERE partner_id = $1 FOR UPDATE',
        values: [uuidFromId(partnerId)],
      });
      paid = pay();
      await expect.poll(() => countWaiting(pool)).toBe(1);
      // In one transaction, as `migrate` does it.
      await transaction(pool, async tx => {
        for (const name of functions) await tx.query({ text: current(name) });
      });
    });
    const id = await paid;

    await untilReceived(clock, receiver, 2);
    expect(receiver.received.map(({ json }) => json.data.id)).toContain(id);
    expect(await pay()).toBeTruthy();
    await untilReceived(clock, receiver, 3);
  },
);
