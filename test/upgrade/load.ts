import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { newLink } from '../helpers/api.ts';

interface Paid {
  mode: 'test' | 'live';
  paymentId: string;
}

/** One call on a kept connection. */
export const call = (
  agent: Agent,
  url: string,
  key: string,
  { method = 'GET', body }: { method?: string; body?: object } = {},
): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body ? { 'content-type': 'application/json', 'idempotency-key': randomUUID() } : {}),
    };
    request(url, { method, agent, headers }, response => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', chunk => (text += chunk))
        .on('error', reject)
        .on('end', () => resolve({ status: response.statusCode!, body: text }));
    })
      .on('error', reject)
      .end(body && JSON.stringify(body));
  });

/** The test is about versions, not about a machine without time for its database. */
const pauseMs = 20;

/** Clients that pay one after the other, each on its own connection, live and test in turn. */
export function startLoad(url: string, keys: Record<Paid['mode'], string>, clients: number) {
  const [paid, refused]: [Paid[], string[]] = [[], []];
  let isStopped = false;

  async function payOne(agent: Agent, mode: Paid['mode']): Promise<void> {
    const options = { method: 'POST', body: { qr_url: newLink(1_000) } };
    const reply = await call(agent, `${url}/v1/payments`, keys[mode], options).catch((error: Error) => ({
      status: 0,
      body: error.message,
    }));
    const payment = reply.status >= 200 && reply.status < 300 ? JSON.parse(reply.body) : undefined;
    if (payment && payment.status !== 'failed') paid.push({ mode, paymentId: payment.id });
    else refused.push(`${mode} ${reply.status} ${reply.body.slice(0, 300)}`);
  }

  async function runClient(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; !isStopped; count++) {
      await payOne(agent, count % 2 === 0 ? 'live' : 'test');
      await sleep(pauseMs);
    }
    agent.destroy();
  }

  const running = Promise.all(Array.from({ length: clients }, runClient));
  const answered = () => paid.length + refused.length;
  return {
    paid,
    /** Everything that is not a payment under way or succeeded. */
    refused,
    /** Resolves after this many more answers, good or bad. */
    more: async (answers: number) => {
      const until = answered() + answers;
      while (answered() < until) await sleep(50);
    },
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}
