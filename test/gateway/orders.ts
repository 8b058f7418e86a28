import { afterAll } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { createHttpGateway, type Gateway, type Order, type Requester } from '../../src/gateway/index.ts';
import { newPaymentId } from '../helpers/database.ts';

export const token = 'a-token-that-nobody-may-see';

/** Opens gateways that are closed at the end of the test file. */
export function gatewayOpener() {
  const openGateways: Gateway[] = [];
  afterAll(() => Promise.all(openGateways.map(gateway => gateway.close())));
  return (url: string, timeoutMs = 60_000): Gateway => {
    const timeouts = { resolveTimeoutMs: timeoutMs, payTimeoutMs: timeoutMs, pollTimeoutMs: timeoutMs };
    const gateway = createHttpGateway({ url, token, clock: systemClock, ...timeouts });
    openGateways.push(gateway);
    return gateway;
  };
}

export const newRequester = (): Requester => ({
  partnerId: newId('prt', systemClock),
  limits: { concurrent: 2 },
});
export const requester = newRequester();

const qrcId = 'AD10004MV5CJ3D638358RO81129CE63P';
export const order: Order = {
  ...{
    partnerId: requester.partnerId,
    paymentId: newPaymentId(),
    qrUrl: `https://qr.nspk.ru/${qrcId}`,
    qrcId,
  },
  ...{ amountKopecks: 15_000n, fingerprint: 'f1', reference: 'r1' },
};

/** The three calls about an order; each must treat the same answers as unknown. */
export const calls = (of: Gateway) => ({
  pay: () => of.pay(order),
  poll: () => of.poll(order),
  void: () => of.void(order),
});
export const callNames = ['pay', 'poll', 'void'] as const;
