import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import { type Deposit, type DepositAddress, listDeposits, openAddresses } from '../../deposits/index.ts';
import { formatInstant } from '../../payments/index.ts';
import type { ApiDeps } from '../deps.ts';
import * as examples from '../docs/examples.ts';
import { endpoint, serve } from '../http/endpoint.ts';
import { sendError } from '../http/errors.ts';
import { instant, orNull, pageOf, pageSize, requestId, usdt } from '../shared-schemas.ts';

const request_id = 'req_01m7faz10re008w0kbkwpdjcac';

const address = {
  object: 'deposit_address',
  chain: 'tron',
  address: 'TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC',
  min_usdt: '1.000000',
  usual_minutes: 2,
} as const;

const transaction = `0x${'5c'.repeat(32)}`;
const deposit = {
  id: 'dep_01m7faz10re008w0kbkwpdjcac',
  object: 'deposit',
  chain: 'tron',
  status: 'credited',
  amount_usdt: '250.000000',
  transaction_id: transaction,
  log_index: 4,
  sender: 'TWBSKDo4kZHhmcZWfKJo9r9PoWyBn87ifr',
  created_at: '2026-11-15T10:00:00.000000+00:00',
  credited_at: '2026-11-15T10:01:12.000000+00:00',
  reference: `deposit:tron:${transaction}:0`,
} as const;

const chain = Type.Enum(['tron', 'ethereum', 'bnb'], { examples: [deposit.chain] });

const listDepositAddresses = endpoint({
  route: 'GET /v1/deposit_addresses',
  operationId: 'listDepositAddresses',
  tag: 'Optional',
  summary: 'Where to send USDT to top up your balance',
  description:
    'One permanent address per chain that the service accepts; empty if it accepts none. Send only USDT of that chain. With a test key the list is empty: deposits are live money.',
  answer: {
    description: 'Your addresses',
    schema: Type.Object({
      data: Type.Array(
        Type.Object({
          object: Type.Literal('deposit_address'),
          chain,
          address: Type.String({ description: 'Permanent; yours alone', examples: [address.address] }),
          min_usdt: usdt('Deposits below it are summed until they reach it', address.min_usdt),
          usual_minutes: Type.Integer({
            description: 'How long a deposit usually takes to become final',
            examples: [address.usual_minutes],
          }),
        }),
      ),
      request_id: requestId,
    }),
    examples: examples.only('One chain', { data: [address], request_id }),
  },
});

const listDepositsEndpoint = endpoint({
  route: 'GET /v1/deposits',
  operationId: 'listDeposits',
  tag: 'Optional',
  summary: 'Your USDT deposits, newest first',
  description:
    'A deposit is credited once, when the chain is final. An unknown or foreign `starting_after`: 404 `not_found`. With a test key the list is empty.',
  querystring: Type.Object({
    limit: pageSize,
    starting_after: Type.Optional(
      Type.String({ description: 'The `next_cursor` of the page before', examples: [deposit.id] }),
    ),
  }),
  answer: {
    description: 'A page of deposits',
    schema: pageOf(
      Type.Object({
        id: Type.String({ pattern: '^dep_[0-7][0-9a-z]{25}$', examples: [deposit.id] }),
        object: Type.Literal('deposit'),
        chain,
        status: Type.Enum(
          ['pending', 'dropped', 'screening', 'accumulating', 'credited', 'held', 'rejected'],
          {
            description:
              '`pending`: seen, not final yet. `dropped`: its block was replaced before it was final. `screening`: final, being checked. `accumulating`: final, below the smallest amount. `credited`: on your balance. `held`: support decides. `rejected`: will not be credited; contact support',
            examples: [deposit.status],
          },
        ),
        amount_usdt: usdt('Rounded down to six places', deposit.amount_usdt),
        transaction_id: Type.String({ description: 'On the chain', examples: [deposit.transaction_id] }),
        log_index: Type.Integer({
          description:
            'Number of its log, as the node counted it. Nodes count differently: it identifies nothing.',
          examples: [deposit.log_index],
        }),
        sender: Type.String({ examples: [deposit.sender] }),
        created_at: instant('When it was first seen', deposit.created_at),
        credited_at: orNull(instant('When it was credited', deposit.credited_at)),
        reference: orNull(
          Type.String({
            description:
              'The reference of the credit in your statement; deposits that were summed have the same',
            examples: [deposit.reference],
          }),
        ),
      }),
      true,
      orNull(Type.String({ description: 'Pass it as `starting_after`', examples: [deposit.id] })),
    ),
    examples: examples.only('The first page', {
      data: [deposit],
      has_more: true,
      next_cursor: deposit.id,
      request_id,
    }),
  },
  errors: ['not_found'],
  malformed: examples.notAnInteger('query', 'limit'),
});

/** An addition to the contract: where to send USDT, and what has arrived. Deposits are live money: test mode has none. */
export function depositRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const { chains = new Map() } = deps;
  serve(server, listDepositAddresses, async request => {
    const { partnerId, mode } = request.caller;
    const addresses =
      mode === 'test'
        ? []
        : await deps.reads.run(partnerId, pool => openAddresses(pool, deps.clock, chains, partnerId));
    return { data: addresses.map(addressObject), request_id: request.id };
  });

  serve(server, listDepositsEndpoint, async (request, reply) => {
    const { limit, starting_after: after } = request.query;
    const { partnerId, mode } = request.caller;
    const startingAfter = after === undefined ? undefined : parseId('dep', after);
    const isUnknown = after !== undefined && (!startingAfter || mode === 'test');
    const page = isUnknown
      ? undefined
      : mode === 'test'
        ? noDeposits
        : await listDeposits(deps.reads.of(partnerId), partnerId, { limit, startingAfter });
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
  });
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
