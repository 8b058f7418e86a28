import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Round } from '../faults/round.ts';
import { checkSeen, type EventsOf, numberOf } from './seen-events.ts';

/**
 * Partners with a webhook each. At the end of the round each must have received every event that is on record, and none with
 * two payments.
 */
export async function receiveWebhooks(round: Round): Promise<void> {
  const partners = new Map(
    round.partners.map((partner): [string, EventsOf] => [partner.partnerId, { partner, seen: new Map() }]),
  );
  const server = createServer(async (request, response) => {
    const { id, data } = (await json(request)) as { id: string; data: { id: string } };
    const { seen } = partners.get(request.url!.slice(1))!;
    const first = seen.get(numberOf(id)) ?? data.id;
    seen.set(numberOf(id), first);
    if (first !== data.id) round.findings.push(`${id} was sent for ${first} and for ${data.id}`);
    response.writeHead(200).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const partner of round.partners)
    await round.world.setWebhook(partner, `http://127.0.0.1:${port}/${partner.partnerId}`);
  round.atTheEnd.push(async () => {
    for (const partner of partners.values()) await checkSeen(round, 'webhook', partner);
    server.closeAllConnections();
    server.close();
  });
}
