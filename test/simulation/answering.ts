import type { Authenticator } from '../../src/partners/index.ts';
import type { PaymentRequest } from '../../src/payments/create/request.ts';
import { type Caller, type Creation, createPayment, lockQuote } from '../../src/payments/index.ts';

export type Answer = { outcome: 'broken' } | { outcome: 'error' } | Creation;

type Deps = Parameters<typeof createPayment>[0] & Parameters<typeof lockQuote>[0];

/** All requests come from here: an address that RFC 5737 reserves. */
const address = '192.0.2.1';

export function createAnswering(
  deps: Deps,
  authenticator: Pick<Authenticator, 'authenticate'> | undefined,
  expectLost: (error: unknown) => void,
  pointAt: (at: string) => (() => Promise<void>) | undefined,
) {
  const waiting = new Set<(answer: Answer) => void>();

  async function pay(
    { apiKey, ...caller }: Parameters<Answering['request']>[0],
    request: PaymentRequest,
  ): Promise<Answer> {
    if (apiKey === undefined) return createPayment(deps, caller, request);
    const authentication = await authenticator!.authenticate({ key: apiKey, address });
    if (authentication.outcome !== 'ok') return { outcome: 'refused', code: authentication.outcome };
    return createPayment(deps, authentication, request);
  }

  return {
    /** As a partner sees it: every outcome is an answer, a crash of the process too. With the API key, in runs that have any. */
    request: (
      caller: Caller & { apiKey?: string | undefined },
      request: PaymentRequest,
      answered: (answer: Answer) => void,
    ) => {
      waiting.add(answered);
      const answer = (result: Answer) => {
        const stop = pointAt('before answer');
        if (stop) return void stop();
        if (waiting.delete(answered)) answered(result);
        void pointAt('after answer')?.();
      };
      pay(caller, request).then(answer, error => {
        expectLost(error);
        answer({ outcome: 'error' });
      });
    },
    /** Undefined: no answer, or an error. */
    lock: (
      caller: Caller,
      amountKopecks: bigint,
      answered: (locking: Awaited<ReturnType<typeof lockQuote>> | undefined) => void,
    ) => {
      const broken = () => answered(undefined);
      waiting.add(broken);
      lockQuote(deps, caller, amountKopecks).then(
        locking => waiting.delete(broken) && answered(locking),
        error => {
          expectLost(error);
          if (waiting.delete(broken)) broken();
        },
      );
    },
    /** The process has died: nobody who waits gets another answer. */
    breakOff: () => {
      for (const answered of waiting) answered({ outcome: 'broken' });
    },
  };
}

/** How a process answers partners. */
export type Answering = ReturnType<typeof createAnswering>;
