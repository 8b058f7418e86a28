import { json } from 'node:stream/consumers';
import type { Answer, EvmNode } from '../../helpers/evm-node.ts';
import { listen } from '../../helpers/local-server.ts';

export interface Call {
  method: string;
  // biome-ignore lint/suspicious/noExplicitAny: each method has parameters of its own
  params: any[];
}

/** What a caller gets instead of an answer of the node. */
export type Fault = { status: number } | 'closes the connection' | 'never answers';

/** Undefined: the node answers. `forward` asks the node, for those who change its answer. */
type Interfere = (
  call: Call,
  forward: (call?: Partial<Call>) => Promise<Answer>,
) => Promise<Answer | Fault | undefined> | Answer | Fault | undefined;

export interface Held {
  release(): void;
}

/** As geth and java-tron say it. The node of the tests gives an empty list. */
const backwards: Answer = { error: { code: -32_602, message: 'invalid block range params' } };

/** The node over HTTP, with what stands between it and the service: it is slow, throttles, fails or lies. */
export async function startNodeProxy(node: EvmNode) {
  const holds: { matches(call: Call): boolean; arrive(held: Held): void }[] = [];
  const proxy = {
    url: '',
    calls: [] as Call[],
    interfere: undefined as Interfere | undefined,
    /** The next such call waits until it is released. Resolves when it has arrived. */
    holdNext: (matches: (call: Call) => boolean) =>
      new Promise<Held>(arrive => void holds.push({ matches, arrive })),
  };

  async function waitIfHeld(call: Call): Promise<void> {
    const place = holds.findIndex(({ matches }) => matches(call));
    if (place < 0) return;
    const [{ arrive }] = holds.splice(place, 1) as [(typeof holds)[number]];
    await new Promise<void>(release => arrive({ release }));
  }

  async function answerOf(call: Call): Promise<Answer | Fault> {
    proxy.calls.push(call);
    await waitIfHeld(call);
    const forward = async (changed: Partial<Call> = {}) => {
      const { method, params } = { ...call, ...changed };
      const isRange = method === 'eth_getLogs' && !params[0].blockHash;
      const isBackwards = isRange && BigInt(params[0].fromBlock) > BigInt(params[0].toBlock);
      return isBackwards ? backwards : node.answer(method, params);
    };
    return (await proxy.interfere?.(call, forward)) ?? forward();
  }

  const address = await listen(async (request, response) => {
    const { id, method, params = [] } = (await json(request)) as Call & { id: number };
    const answer = await answerOf({ method, params });
    if (answer === 'never answers') return;
    if (answer === 'closes the connection') return void response.destroy();
    if ('status' in answer) return void response.writeHead(answer.status).end('no');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...answer, jsonrpc: '2.0', id }));
  });
  proxy.url = `${address}/key-of-the-node`;
  return proxy;
}
export type NodeProxy = Awaited<ReturnType<typeof startNodeProxy>>;
