import { Option } from 'commander';
import { parseId } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import {
  type FoundPayment,
  findRefundedOf,
  type PaymentFilter,
  type PaymentStatus,
  paymentObject,
  searchPayments,
} from '../payments/index.ts';
import { label, pageSize } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { type Output, table } from './output.ts';

interface ListOptions {
  partner?: string;
  externalId?: string;
  mode?: 'test' | 'live';
  status?: PaymentStatus;
  limit: number;
}

export const paymentListCommand = (withDatabase: WithDatabase) =>
  command('list', 'list payments of all partners, newest first')
    .option('--partner <partner>', 'ID of a partner, or the beginning of its name', label)
    .option('--external-id <id>', 'external_id that the partner sent', label)
    .addOption(new Option('--mode <mode>', 'one mode only').choices(['test', 'live']))
    .addOption(
      new Option('--status <status>', 'one status only').choices(['processing', 'succeeded', 'failed']),
    )
    .option('--limit <count>', 'how many at most, up to 1000', pageSize, 20)
    .action(withDatabase(list));

async function list({ audit }: CommandContext, options: ListOptions): Promise<Output> {
  const { partner, externalId, mode, status, limit } = options;
  const partnerId = partner === undefined ? undefined : parseId('prt', partner);
  const filter: PaymentFilter = {
    ...(partnerId ? { partnerId } : { partnerName: partner }),
    externalId,
    mode,
    status,
  };
  const found: FoundPayment[] = [];
  let page = await searchPayments(audit.pool, [filter], { limit });
  found.push(...page.payments);
  // A search stops after some thousand payments that do not match, and can be continued.
  while (found.length < limit && page.next) {
    page = await searchPayments(audit.pool, [filter], { limit: limit - found.length, after: page.next });
    found.push(...page.payments);
  }
  const refunded = await findRefundedOf(audit.pool, found);
  return {
    json: {
      payments: found.map((payment, index) => ({
        ...JSON.parse(paymentObject(payment, refunded[index])),
        partner_id: payment.partnerId,
        partner_name: payment.partnerName,
      })),
    },
    text: table(found, payment => ({
      payment: payment.paymentId,
      'created (UTC)': payment.createdAt,
      partner: payment.partnerName,
      mode: payment.mode,
      status: [payment.status, payment.errorCode].filter(Boolean).join(', '),
      RUB: formatKopecks(payment.amountKopecks),
      USDT: formatMicroUsdt(payment.microUsdt),
      external_id: payment.externalId ?? '',
    })),
  };
}
