import type { FastifyInstance } from 'fastify';
import { parseId } from '../../base/ids.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import { type Deposit, type DepositAddress, listDeposits, openAddresses } from '../../deposits/index.ts';
import { formatInstant } from '../../payments/index.ts';
import type { ApiDeps } from '../deps.ts';
import { sendError } from '../http/errors.ts';
import * as schemas from './schemas.ts';

/** An addition to the contract: where to send USDT, and what has arrived. Deposits are live money: test mode has none. */
export function depositRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const { chains = new Map() } = deps;
  server.get('/v1/deposit_addresses', { schema: schemas.listAddressesOperation }, async request => {
    const { partnerId, mode } = request.caller;
    const addresses =
      mode === 'test'
        ? []
        : await deps.reads.run(partnerId, pool => openAddresses(pool, deps.clock, chains, partnerId));
    return { data: addresses.map(addressObject), request_id: request.id };
  });

  server.get<{ Querystring: { limit: number; starting_after?: string } }>(
    '/v1/deposits',
    { schema: schemas.listDepositsOperation },
    async (request, reply) => {
      const { limit, starting_after: after } = request.query;
      const { partnerId, mode } = request.caller;
      const startingAfter = after === undefined ? undefined : parseId('dep', after);
      const isUnknown = after !== undefined && (!startingAfter || mode === 'test');
      const page = isUnknown
        ? undefined
        : mode === 'test'
          ? noDeposits
          : await listDeposits(deps.reads.of(partnerId), partnerId, {
              limit,
              startingAfter,
            });
      if (!page) {
        if (startingAfter) await deps.confirmHistory();
        return sendError(request, reply, 'not_found');
      }
      if (page.deposits.length === 0) await deps.confirmHistory();
      return {
        data: page.deposits.map(depositObject),
        has_more: page.hasMore,
        next_cursor: page.hasMore ? page.deposits.at(-1)!.depositId : null,
        request_id: request.id,
      };
    },
  );
}

const noDeposits = { deposits: [], hasMore: false };

const addressObject = ({ chain, address }: DepositAddress) => ({
  object: 'deposit_address',
  chain: chain.name,
  address,
  min_usdt: formatMicroUsdt(chain.minMicroUsdt),
  usual_minutes: chain.usualMinutes,
});

const depositObject = (deposit: Deposit) => ({
  id: deposit.depositId,
  object: 'deposit',
  chain: deposit.chain,
  status: deposit.state,
  amount_usdt: formatMicroUsdt(deposit.microUsdt),
  transaction_id: deposit.transaction,
  log_index: deposit.logIndex,
  sender: deposit.sender,
  created_at: formatInstant(deposit.seenAt),
  credited_at: deposit.creditedAt && formatInstant(deposit.creditedAt),
  reference: deposit.creditReference,
});
