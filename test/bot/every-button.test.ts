import { expect, test } from 'vitest';
import { approveLive } from '../../src/partners/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { issueKey, keyring, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { createBotWorld } from './setup.ts';

const clock = manualClock(new Date().toISOString());
const { pool, telegram, audit, ownerOf, logged } = await createBotWorld({ clock });
const { address } = await startApi({ pool });
await setRate(pool);

test.each([
  ['ru', /[а-яё]/i],
  ['en', /[a-z]/i],
] as const)('every button of every menu leads somewhere, in %s', async (language, letters) => {
  const name = language === 'ru' ? 'Лавка' : 'Shop';
  const { owner, partnerId } = await ownerOf(name, language);
  const receiver = await startReceiver();
  await approveLive(audit, partnerId);
  await setWebhook(audit, createVault(keyring), partnerId, receiver.url);
  const api = partnerAt(address, await issueKey(pool, partnerId, 'test'));
  for (const kopecks of [30_510, 10_001, 10_002]) await api.pay({ qr_url: newLink(kopecks) });

  const pressed = new Set<string>();
  const buttons = () =>
    owner.messages
      .filter(({ isDeleted, from }) => from.is_bot && !isDeleted)
      .flatMap(message => message.keyboard.flat().map(button => ({ message, button })))
      .flatMap(({ message, button }) =>
        'callback_data' in button ? [{ message, data: button.callback_data, caption: button.text }] : [],
      );
  /** A confirmation has a new nonce each time, so buttons are compared by caption. */
  const kindOf = ({ data, caption }: { data: string; caption: string }) =>
    data.startsWith('ok:') ? `ok ${caption}` : data;
  // Screens replace each other, so every button shown is stored. A confirmation works only while it is shown, so it
  // goes first.
  const known = new Map<string, ReturnType<typeof buttons>[number]>();
  for (;;) {
    await expect.poll(() => telegram.pendingUpdates()).toBe(0);
    for (const found of buttons()) if (!known.has(kindOf(found))) known.set(kindOf(found), found);
    const open = [...known].filter(([kind]) => !pressed.has(kind) && !kind.startsWith('lang:'));
    const [kind, next] = open.find(([name]) => name.startsWith('ok ')) ?? open[0] ?? [];
    if (!kind || !next) break;
    pressed.add(kind);
    clock.advance(1_000);
    await owner.forges(next.message, next.data);
  }
  expect(pressed.size).toBeGreaterThan(35);
  const said = owner.messages
    .filter(({ from }) => from.is_bot)
    .flatMap(message => [message, ...message.edits]);
  for (const { text } of said) expect(text).toMatch(letters);
  expect(logged.filter(line => line.includes('bot error'))).toEqual([]);
});
