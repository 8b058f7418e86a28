import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import {
  type Deposit,
  type DepositAddress,
  depositStates,
  listDeposits,
  openAddresses,
} from '../../deposits/index.ts';
import { formatInstant } from '../../payments/index.ts';
import type { ApiDeps } from '../deps.ts';
import * as examples from '../docs/examples.ts';
import { endpoint, serve } from '../http/endpoint.ts';
import { sendError } from '../http/errors.ts';
import { instant, orNull, pageOf, pageSize, requestId, usdt } from '../shared-schemas.ts';

const request_id = 'req_01m7faz10re008w0kbkwpdjcac';

const depositId = 'dep_01m7faz10re008w0kbkwpdjcac';
const transaction = `0x${'5c'.repeat(32)}`;
const chain = Type.Enum(['tron', 'ethereum', 'bnb'], { examples: ['tron'] });

const AddressObject = Type.Object({
  object: Type.Literal('deposit_address'),
  chain,
  address: Type.String({
    description: 'Permanent; yours alone',
    examples: ['TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC'],
  }),
  min_usdt: usdt('Deposits below it are summed until they reach it', '1.000000'),
  usual_minutes: Type.Integer({
    description: 'How long a deposit usually takes to become final',
    examples: [2],
  }),
});

const DepositObject = Type.Object({
  id: Type.String({ pattern: '^dep_[0-7][0-9a-z]{25}$', examples: [depositId] }),
  object: Type.Literal('deposit'),
  chain,
  status: Type.Enum([...depositStates], {
    description:
      '`pending`: seen, not final yet. `dropped`: its block was replaced before it was final. `screening`: final, being checked. `accumulating`: final, below the smallest amount. `credited`: on your balance. `held`: support decides. `rejected`: will not be credited',
    examples: ['credited'],
  }),
  amount_usdt: usdt('Rounded down to six places', '250.000000'),
  transaction_id: Type.String({ description: 'On the chain', examples: [transaction] }),
  log_index: Type.Integer({
    description: 'Number of its log, as the node counted it. Nodes count differently: it identifies nothing.',
    examples: [4],
  }),
  sender: Type.String({ examples: ['TWBSKDo4kZHhmcZWfKJo9r9PoWyBn87ifr'] }),
  created_at: instant('When it was first seen', '2026-11-15T10:00:00.000000+00:00'),
  credited_at: orNull(instant('When it was credited', '2026-11-15T10:01:12.000000+00:00')),
  reference: orNull(
    Type.String({
      description: 'The reference of the credit in your statement; deposits that were summed have the same',
      examples: [`deposit:tron:${transaction}:0`],
    }),
  ),
});

const listDepositAddresses = endpoint({
  route: 'GET /v1/deposit_addresses',
  operationId: 'listDepositAddresses',
  tag: 'Optional',
  summary: 'Where to send USDT to top up your balance',
  description:
    'One permanent address per chain that the service accepts; empty if it accepts none. Send only USDT of that chain. With a test key the list is empty: deposits are live money.',
  answer: {
    description: 'Your addresses',
    schema: Type.Object({ data: Type.Array(AddressObject), request_id: requestId }),
    examples: examples.only('One chain', { data: [examples.described(AddressObject)], request_id }),
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
      Type.String({ description: 'The `next_cursor` of the page before', examples: [depositId] }),
    ),
  }),
  answer: {
    description: 'A page of deposits',
    schema: pageOf(
      DepositObject,
      true,
      orNull(Type.String({ description: 'Pass it as `starting_after`', examples: [depositId] })),
    ),
    examples: examples.only('The first page', {
      data: [examples.described(DepositObject)],
      has_more: true,
      next_cursor: depositId,
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
