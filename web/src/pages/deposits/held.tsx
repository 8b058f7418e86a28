import { useState } from 'react';
import { Link } from 'wouter';
import type { Page } from '../../../../src/console/shapes/common.ts';
import type { DepositRow } from '../../../../src/console/shapes/deposits.ts';
import type { PartnerDetail } from '../../../../src/console/shapes/partners.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { BalanceChange } from '../../parts/balance-change.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Card, Facts, Failure, Rows, useLive, useOnce } from '../../parts/page.tsx';
import { Copyable, Usdt } from '../../parts/values.tsx';
import { useShared, useTexts } from '../../texts/index.ts';
import { Transaction, useDepositColumns } from './columns.tsx';
import { texts } from './texts.ts';

interface Deciding {
  deposit: DepositRow;
  how: 'release' | 'reject';
}

/** What waits for an operator; nothing, if nothing does. */
export function HeldDeposits() {
  const t = useTexts(texts);
  const columns = useDepositColumns();
  const [deciding, setDeciding] = useState<Deciding | null>(null);
  const held = useLive<Page<DepositRow>>(['held deposits'], '/deposits?state=held&limit=100', 5000);
  const rows = held.data?.data ?? [];
  if (held.isError) return <Failure error={held.error} again={() => void held.refetch()} />;
  if (rows.length === 0) return null;
  return (
    <Card title={t.held}>
      <p className="dim card-lead">{t.heldLead}</p>
      <Rows
        label={t.held}
        rows={rows}
        keyOf={row => row.deposit_id}
        columns={[
          ...columns,
          {
            head: t.actions,
            cell: deposit =>
              deposit.request ? (
                <Link href="/requests">{t.waiting}</Link>
              ) : (
                <div className="actions">
                  <Action
                    needs="balances.credit"
                    why={deposit.held_for === 'amount' ? t.tooLarge : undefined}
                    onClick={() => setDeciding({ deposit, how: 'release' })}
                  >
                    {t.credit}
                  </Action>
                  <Action needs="balances.credit" onClick={() => setDeciding({ deposit, how: 'reject' })}>
                    {t.reject}
                  </Action>
                </div>
              ),
          },
        ]}
      />
      {deciding && <Decide {...deciding} onClose={() => setDeciding(null)} />}
    </Card>
  );
}

function Decide({ deposit, how, onClose }: Deciding & { onClose: () => void }) {
  const t = useTexts(texts);
  const isRelease = how === 'release';
  const verb = isRelease ? t.credit : t.reject;
  return (
    <Confirm
      title={isRelease ? t.creditTitle : t.rejectTitle}
      says={
        <div className="stack">
          <Effect deposit={deposit} isRelease={isRelease} />
          <Origin deposit={deposit} />
          <p>{isRelease ? t.creditSays : t.rejectSays}</p>
        </div>
      }
      verb={verb}
      danger={!isRelease}
      withReason
      run={reason => send(`/deposits/${deposit.deposit_id}/${how}`, { reason })}
      onClose={onClose}
    />
  );
}

/** What the decision changes, so that it need not be remembered from the page behind the dialog. */
function Effect({ deposit, isRelease }: { deposit: DepositRow; isRelease: boolean }) {
  const t = useTexts(texts);
  const shared = useShared();
  const { partner_id, partner, amount_usdt: usdt } = deposit;
  const found = useOnce<PartnerDetail>(['partner', partner_id], `/partners/${partner_id}`);
  const money = found.data?.balances.live;
  if (isRelease && money)
    return (
      <BalanceChange balance={{ partner_id, partner, mode: 'live', ...money }} effect="credit" usdt={usdt} />
    );
  return (
    <Facts
      facts={[
        [shared.partner, partner],
        [t.amount, <Usdt key="amount" bare amount={usdt} />],
      ]}
    />
  );
}

/** What an operator checks elsewhere before deciding, in full. */
function Origin({ deposit }: { deposit: DepositRow }) {
  const t = useTexts(texts);
  const { chain_title, sender, transaction_id } = deposit;
  const hash = <code className="wrap-anywhere">{transaction_id}</code>;
  return (
    <dl className="origin">
      <dt>{t.chain}</dt>
      <dd>{chain_title}</dd>
      <dt>{t.sender}</dt>
      <dd>
        <Copyable text={sender} />
      </dd>
      <dt>{t.transaction}</dt>
      <dd>
        <Transaction deposit={deposit} text={hash} />
      </dd>
    </dl>
  );
}
