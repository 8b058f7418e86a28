import type { PartnerBalance } from '../../../src/console/shapes.ts';
import { inBoth, useTexts } from '../texts/index.ts';
import { TestMark } from './badge.tsx';
import { Facts } from './page.tsx';
import { Rub, Usdt } from './values.tsx';

const texts = inBoth({
  available: ['Available balance, USDT', 'Доступный баланс, USDT'],
  held: ['On hold, USDT', 'Зарезервировано, USDT'],
  unchanged: ['does not change', 'не изменится'],
  to: ['to', 'станет'],
});

/** What an action does to the balance; a payment on hold ends by being debited or returned. */
export type Effect = 'credit' | 'debit' | 'return';

const micro = (usdt: string): bigint => {
  const [whole = '0', decimals = ''] = usdt.replace('-', '').split('.');
  const amount = BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, '0'));
  return usdt.startsWith('-') ? -amount : amount;
};

const usdtOf = (amount: bigint): string => {
  const digits = `${amount < 0n ? -amount : amount}`.padStart(7, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
};

/** In whole micro-USDT: a floating-point sum would show a balance that does not exist. */
const sum = (one: string, other: string, sign: 1n | -1n) => usdtOf(micro(one) + sign * micro(other));

interface BalanceChangeProps {
  balance: PartnerBalance;
  effect: Effect;
  rub?: string | null;
  usdt: string;
}

/** The amount, the partner, and the balance before and after, as it is known now. */
export function BalanceChange({ balance, effect, rub, usdt }: BalanceChangeProps) {
  const t = useTexts(texts);
  const { available_usdt: available, held_usdt: held } = balance;
  return (
    <Facts
      facts={[
        [
          t.partner,
          <span key="partner" className="inline">
            <span className="wrap-anywhere">{balance.partner}</span>
            <TestMark mode={balance.mode} />
          </span>,
        ],
        [
          t.amount,
          <span key="amount">
            {rub && (
              <>
                <Rub amount={rub} /> ·{' '}
              </>
            )}
            <Usdt amount={usdt} />
          </span>,
        ],
        [
          t.available,
          <BeforeAfter
            key="available"
            before={available}
            after={effect === 'debit' ? null : sum(available, usdt, 1n)}
          />,
        ],
        effect !== 'credit' && [
          t.held,
          <BeforeAfter key="held" before={held} after={sum(held, usdt, -1n)} />,
        ],
      ]}
    />
  );
}

function BeforeAfter({ before, after }: { before: string; after: string | null }) {
  const t = useTexts(texts);
  return (
    <span>
      <Usdt amount={before} bare />{' '}
      {after === null ? (
        <span className="dim">({t.unchanged})</span>
      ) : (
        <>
          <span aria-hidden="true">→</span>
          <span className="unseen">{t.to}</span> <Usdt amount={after} bare />
        </>
      )}
    </span>
  );
}
