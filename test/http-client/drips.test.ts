import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Api } from 'grammy';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { readSettings } from '../../src/base/settings.ts';
import { telegramClient } from '../../src/bot/telegram-client.ts';
import { examineCertificate } from '../../src/cli/doctor/certificate.ts';
import { connect } from '../../src/cli/remote.ts';
import { describeBucket } from '../../src/db/backup-store/s3/bucket.ts';
import { createS3Client } from '../../src/db/backup-store/s3/s3-client.ts';
import { openRpc } from '../../src/deposits/chain/json-rpc.ts';
import { openNode } from '../../src/deposits/chain/node.ts';
import { createScreen } from '../../src/deposits/screening/screen-deposits.ts';
import { createCheckClient } from '../../src/gateway/check/client.ts';
import { createHttpGateway } from '../../src/gateway/index.ts';
import { createRateSources } from '../../src/rates/index.ts';
import { createTracer } from '../../src/telemetry/index.ts';
import { createSender } from '../../src/webhooks/index.ts';
import { startDrippingServer } from '../helpers/dripping-server.ts';

interface Client {
  /** The file of the service that makes the call, or its folder. */
  file: string;
  limitMs: number;
  /** Makes a call; resolves with how it ended, as a text. */
  call(url: string): Promise<string>;
  /** What it ended with after the limit. */
  ends: RegExp;
}

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    result => `got ${JSON.stringify(result)}`,
    (error: Error) => `${error.name}: ${error.message}`,
  );

const deposit = { chain: 'tron', transaction: '0x1', logIndex: 0, sender: '0x2', microUsdt: 1n } as const;

/** Every client of the service. `test/http-client/drips.test.ts` fails if a file that makes calls is not here. */
const clients: Record<string, Client> = {
  'payment gateway': {
    file: 'src/gateway/transport.ts',
    limitMs: 10_000,
    call: async url => {
      const gateway = createHttpGateway({ url, token: 't', clock });
      const { outcome } = await gateway.poll({ paymentId: newId('pay', clock), amountKopecks: 100n });
      await gateway.close();
      return outcome;
    },
    ends: /^unknown$/,
  },
  'kopeck gateway check': {
    file: 'src/gateway/check/client.ts',
    limitMs: 10_000,
    call: async url => {
      const timeouts = { payMs: 50_000, otherMs: 10_000 };
      const { send } = createCheckClient({ url, token: 't', timeouts, clock });
      return `${(await send({ method: 'GET', path: '/orders/x' })).error}`;
    },
    ends: /^no answer in time$/,
  },
  'rate source': {
    file: 'src/rates/create-sources.ts',
    limitMs: 5_000,
    call: url => {
      const { rateSources } = readSettings({ RATE_SOURCES: `${url}/rate` });
      const [source] = createRateSources(rateSources!, { clock, cryptoPayToken: undefined });
      return messageOf(source!.fetch(new AbortController().signal));
    },
    ends: /^Error: no whole answer within 5000 ms$/,
  },
  'screening service': {
    file: 'src/deposits/screening/screen-deposits.ts',
    limitMs: 10_000,
    call: url => createScreen(clock, url)(deposit),
    ends: /^no_answer$/,
  },
  'chain node': {
    file: 'src/deposits/chain/json-rpc.ts',
    limitMs: 10_000,
    call: url => messageOf(openNode(openRpc(clock, url, 'tron node 1'), 'tron node 1').chainId()),
    ends: /The tron node 1 did not answer in time\.$/,
  },
  'webhook endpoint': {
    file: 'src/webhooks/http/',
    limitMs: 10_000,
    call: async url => {
      const sender = createSender({ clock, allowPrivate: true });
      onTestFinished(sender.close);
      const result = await sender.send({ url, headers: {}, body: '{}' });
      return result.outcome === 'failed' ? result.error : result.outcome;
    },
    // The status is the answer. Its body is ignored, and the connection ends with the limit.
    ends: /^(timeout|answered)$/,
  },
  Telegram: {
    file: 'src/bot/telegram-client.ts',
    limitMs: 30_000,
    call: url => messageOf(new Api('1:token', telegramClient(clock, url, 30_000)).getMe()),
    ends: /^HttpError: Network request for 'getMe' failed!$/,
  },
  'bucket for backups': {
    file: 'src/db/backup-store/s3/s3-client.ts',
    limitMs: 90_000,
    call: url => {
      const { s3 } = readSettings({
        ...{ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key', AWS_REGION: 'eu-central-1' },
        AWS_ENDPOINT_URL: url,
      });
      const send = createS3Client(describeBucket('s3://mine/x', s3), { maxAttempts: 1 });
      return messageOf(send({ method: 'GET', key: 'a' }));
    },
    ends: /cannot be reached \(no answer in time\)/,
  },
  'collector of traces': {
    file: 'src/telemetry/tracer.ts',
    limitMs: 5_000,
    call: async endpoint => {
      const reasons: unknown[] = [];
      const log = { warn: (details: object) => void reasons.push((details as { why: string }).why) };
      const tracer = createTracer({ endpoint, clock, log });
      tracer.start('span').end();
      await tracer.stop();
      return reasons.join();
    },
    ends: /^TimeoutError$/,
  },
  'the service itself, by a command': {
    file: 'src/cli/remote.ts',
    limitMs: 95_000,
    call: url => messageOf(connect({ key: 'svc_test_x', url }, { maxRetries: 0 }).ping()),
    ends: /No response within 95000 ms/,
  },
};

/** These only pass their limits to `callHttp`, which is tested above, or use a client of the list. */
const otherCallers = [
  'src/bot/conversation/menus/qr.ts',
  'src/bot/conversation/update-handler.ts',
  'src/bot/index.ts',
  'src/cli/demo-payments.ts',
  'src/cli/doctor/certificate.ts',
  'src/cli/doctor/service-checks.ts',
  'src/runtime/simulator.ts',
];

// Time passes only when a test says so; servers drip in real time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

describe.each(Object.entries(clients))('%s', (_name, { call, limitMs, ends }) => {
  test.each(['headers', 'body'] as const)('a call ends at its limit while the %s drip', async part => {
    const server = await startDrippingServer(part);
    let isOver = false;
    const ended = call(server.url).then(result => {
      isOver = true;
      return result;
    });
    await server.dripping;
    await vi.advanceTimersByTimeAsync(limitMs - 1);
    await nextTurn();
    const wasOver = isOver;
    await vi.advanceTimersByTimeAsync(1);
    const result = await ended;
    await server.hungUp;
    expect(result).toMatch(ends);
    // A webhook is answered by its status.
    expect(wasOver).toBe(result === 'answered');
  });
});

test('a look at a certificate ends at its limit while the handshake drips', async () => {
  const server = await startDrippingServer('handshake');
  const finding = examineCertificate(server.url.replace('http:', 'https:'));
  await server.dripping;
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await finding).detail).toContain('cannot be reached from here (no answer)');
  await server.hungUp;
});

/** What makes a call, or a client of a library. */
const makesCalls =
  /\b(callHttp|createFetch|readAnswer|createPublicClient)\(|new (Api|Bot|AwsClient|Kopeck)\(|from '(undici|node:tls)'/;

test('every file that makes calls is in the list', () => {
  const root = join(import.meta.dirname, '../..');
  const listed = [...Object.values(clients).map(({ file }) => file), ...otherCallers];
  const files = globSync('src/**/*.ts', { cwd: root }).filter(
    file => !file.startsWith('src/http-client/') && makesCalls.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(files.filter(file => !listed.some(known => file.startsWith(known)))).toEqual([]);
  expect(listed.filter(known => !files.some(file => file.startsWith(known)))).toEqual([]);
});
