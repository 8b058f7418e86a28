import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterFile } from '../helpers/after-file.ts';

const checkEveryMs = 200;

/** A load balancer that sends requests in turn to the nodes whose /readyz says 200, and repeats none. */
export async function startBalancer() {
  const agent = new Agent({ keepAlive: true });
  const nodes = new Map<string, boolean>();
  const counts = new Map<string, number>();
  let turn = 0;
  let isStopped = false;

  async function check(address: string): Promise<void> {
    while (!isStopped) {
      const status = await fetch(`${address}/readyz`).then(
        async response => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 0,
      );
      nodes.set(address, status === 200);
      await sleep(checkEveryMs);
    }
  }

  const server = createServer((incoming, outgoing) => {
    const ready = [...nodes].filter(([, isReady]) => isReady).map(([address]) => address);
    const address = ready[turn++ % Math.max(1, ready.length)];
    if (!address) return void outgoing.writeHead(502).end('no node is ready');
    counts.set(address, (counts.get(address) ?? 0) + 1);
    const { method, url, headers } = incoming;
    const passed = request(`${address}${url}`, { method, headers, agent }, response => {
      const { connection: _ofThisHop, ...rest } = response.headers;
      outgoing.writeHead(response.statusCode!, rest);
      response.on('error', () => outgoing.destroy()).pipe(outgoing);
    });
    passed.on('error', error => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end(`${address}: ${error.message}`);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  afterFile(async () => {
    isStopped = true;
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (address: string) => {
      nodes.set(address, false);
      void check(address);
    },
    /** How many requests each node got. */
    counts,
  };
}
