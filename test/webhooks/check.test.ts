import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { textsByLanguage } from '../../src/bot/texts/index.ts';
import { checkReceiver } from '../../src/webhooks/admin/check.ts';
import { createSender, newSecret, problemText } from '../../src/webhooks/index.ts';
import { hanging, type Receiver, startReceiver, withStatus } from '../helpers/webhook-receiver.ts';

type Answer = Parameters<Receiver['answer']>[0];
const signing = { secrets: [newSecret()] };

/** What the check finds at a receiver that answers so. */
async function check(answer: Answer, timeoutMs = 60_000) {
  const receiver = await startReceiver();
  receiver.answer(answer);
  const sender = createSender({ clock: systemClock, allowPrivate: true, timeoutMs });
  const checked = await checkReceiver({ clock: systemClock, sender }, { ...signing, url: receiver.url });
  await sender.close();
  return checked;
}

const said = async (answer: Answer, timeoutMs?: number) =>
  (await check(answer, timeoutMs)).results.map(result => problemText(result) ?? 'passed');

test('what is accepted although it must be refused', async () => {
  expect(await said(withStatus(200))).toEqual([
    'passed',
    'passed',
    'Invalid signature: must be refused, the server answered 200',
    'Timestamp ten minutes old: must be refused, the server answered 200',
    'Changed body: must be refused, the server answered 200',
  ]);
});

test('a valid event that is refused', async () => {
  expect(await said(withStatus(401))).toEqual([
    'Valid event: must be accepted, the server answered 401',
    'Same event again: must be accepted, the server answered 401',
    ...['passed', 'passed', 'passed'],
  ]);
});

test('a redirect is neither accepting nor refusing', async () => {
  const { results, passed } = await check(withStatus(302));
  expect(results.map(({ problem }) => problem)).toEqual(Array(5).fill('redirected'));
  expect(passed).toBe(false);
  expect(problemText(results[0]!)).toContain('answered 302, a redirect');
});

test('an error of the server is no refusal', async () => {
  const [valid, , foreign] = await said(withStatus(503));
  expect(valid).toBe('Valid event: must be accepted, the server answered 503, an error of its own');
  expect(foreign).toContain(
    'Invalid signature: must be refused, the server answered 503, which is no refusal',
  );
});

test('a server that hangs or hangs up gets no further probes', async () => {
  expect(await said(hanging, 100)).toEqual([
    'Valid event: must be accepted, the server did not answer in time',
  ]);
  expect(await said(response => void response.destroy())).toEqual([
    'Valid event: must be accepted, there was no response: connection closed',
  ]);
});

test('the bot says it in both languages', async () => {
  const { en, ru } = textsByLanguage;
  const checked = await check(withStatus(200));
  expect(en.webhook.checkResult(checked, false)).toContain(
    '❌ Invalid signature: must be refused, the server answered 200\n',
  );
  expect(ru.webhook.checkResult(checked, false)).toContain(
    '❌ Неверная подпись: нужно отклонить, сервер ответил 200\n',
  );
  expect(ru.webhook.checkResult(await check(withStatus(302)), false)).toContain('это перенаправление');
  expect(ru.webhook.checkResult(await check(hanging, 100), false)).toContain('сервер не ответил вовремя');
});
