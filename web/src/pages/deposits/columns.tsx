import type { DepositRow } from '../../../../src/console/shapes/deposits.ts';
import { State } from '../../parts/badge.tsx';
import type { Column } from '../../parts/page.tsx';
import { IdLink, Name, ShortHash, ShortId, Time, Usdt } from '../../parts/values.tsx';
import { useShared, useTexts, wordIn } from '../../texts/index.ts';
import { texts } from './texts.ts';

/** What every list of deposits shows. */
export function useDepositColumns(): Column<DepositRow>[] {
  const t = useTexts(texts);
  const shared = useShared();
  return [
    {
      head: t.deposit,
      cell: row => (
        <>
          <ShortId id={row.deposit_id} />
          <span className="under">{row.chain_title}</span>
        </>
      ),
    },
    {
      head: t.state,
      cell: row => (
        <>
          <State state={row.state} words={t.states} />
          {row.held_for && <span className="under">{wordIn(t.heldFor, row.held_for)}</span>}
          {row.decision_reason && <span className="under">{row.decision_reason}</span>}
        </>
      ),
    },
    {
      head: shared.partner,
      cell: row => <IdLink id={row.partner_id} text={<Name text={row.partner} />} />,
    },
    { head: t.amount, right: true, cell: row => <Usdt bare amount={row.amount_usdt} /> },
    {
      head: t.transaction,
      cell: row => (
        <>
          <Transaction deposit={row} text={<ShortHash text={row.transaction_id} />} />
          <span className="under one-line">
            {t.from} <ShortHash text={row.sender} />
          </span>
        </>
      ),
    },
    { head: t.seen, cell: row => <Time at={row.seen_at} as="short" /> },
  ];
}

/** Opens the transaction in a block explorer, if its chain is configured. */
export function Transaction({ deposit, text }: { deposit: DepositRow; text: React.ReactNode }) {
  if (!deposit.explorer_url) return text;
  return (
    <a href={deposit.explorer_url} target="_blank" rel="noopener noreferrer" className="one-line">
      {text} <span aria-hidden="true">↗</span>
    </a>
  );
}
