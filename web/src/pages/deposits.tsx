import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { Link } from 'wouter';
import type { DepositChainList, DepositRow, PartnerDetail } from '../../../src/console/shapes.ts';
import type { Page } from '../../../src/web/shapes.ts';
import { query, send } from '../api.ts';
import { Action } from '../parts/action.tsx';
import { State } from '../parts/badge.tsx';
import { BalanceChange } from '../parts/balance-change.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { SearchField, SelectField } from '../parts/fields.tsx';
import { ClearFilters, NoneFound, useFilters } from '../parts/filters.tsx';
import {
  Card,
  type Column,
  Empty,
  Facts,
  Failure,
  KeysetTable,
  PageFrame,
  Rows,
  useLive,
  useOnce,
  Waiting,
} from '../parts/page.tsx';
import { PartnerField } from '../parts/partner-field.tsx';
import {
  Copyable,
  Count,
  Duration,
  ExplorerLink,
  IdLink,
  Name,
  ShortHash,
  ShortId,
  Time,
  Usdt,
} from '../parts/values.tsx';
import { useTexts, wordIn } from '../texts/index.ts';
import { texts } from './deposits/texts.ts';

/** USDT deposits: held ones first, then how far each chain is booked, then all. */
export default function Deposits() {
  const t = useTexts(texts);
  return (
    <PageFrame title={t.nav.deposits} lead={t.lead}>
      <div className="stack">
        <HeldDeposits />
        <Chains />
        <AllDeposits />
      </div>
    </PageFrame>
  );
}

function Chains() {
  const t = useTexts(texts);
  const found = useLive<DepositChainList>('/deposits/chains', 5000);
  if (!found.data)
    return found.isError ? (
      <Failure error={found.error} again={() => void found.refetch()} />
    ) : (
      <Waiting rows={2} />
    );
  const { data, is_screened } = found.data;
  return (
    <Card title={t.chains} side={<span className="dim">{is_screened ? t.screened : t.notScreened}</span>}>
      <Rows
        label={t.chains}
        rows={data}
        keyOf={one => one.chain}
        empty={<Empty title={t.noChains}>{t.noChainsHint}</Empty>}
        columns={[
          { head: t.chain, cell: one => one.network },
          { head: t.nodes, right: true, wideOnly: true, cell: one => <Count value={one.nodes} /> },
          {
            head: t.lag,
            right: true,
            cell: one => <Duration ms={one.lag_sec === null ? null : one.lag_sec * 1000} />,
          },
          { head: t.behind, right: true, cell: one => <Count value={one.blocks_behind} /> },
          { head: t.checked, cell: one => <Time at={one.checked_at} as="short" /> },
        ]}
      />
    </Card>
  );
}

function AllDeposits() {
  const t = useTexts(texts);
  const columns = useDepositColumns();
  const of = useFilters(['q', 'state', 'partner_id']);
  const { filters, apply } = of;
  const [draft, setDraft] = useState(filters.q);
  const search = useDebouncedCallback((q: string) => apply({ q }), 250);
  return (
    <Card title={t.all}>
      <search className="filters">
        <SearchField
          className="filter-wide"
          label={t.search}
          placeholder={t.searchHint}
          value={draft}
          onChange={text => {
            setDraft(text);
            search(text.trim());
          }}
        />
        <SelectField
          label={t.state}
          value={filters.state}
          any={t.any}
          words={t.states}
          onChange={state => apply({ state })}
        />
        <PartnerField partnerId={filters.partner_id} onChoose={partner_id => apply({ partner_id })} />
        <ClearFilters
          label={t.clear}
          of={{
            ...of,
            clear: () => {
              setDraft('');
              of.clear();
            },
          }}
        />
      </search>
      <KeysetTable<DepositRow>
        label={t.all}
        path={`/deposits${query(filters)}`}
        everyMs={5000}
        columns={columns}
        keyOf={row => row.deposit_id}
        empty={<NoneFound of={of} t={t} />}
      />
    </Card>
  );
}

interface Deciding {
  deposit: DepositRow;
  how: 'release' | 'reject';
}

/** What waits for an operator; nothing, if nothing does. */
export function HeldDeposits() {
  const t = useTexts(texts);
  const columns = useDepositColumns();
  const [deciding, setDeciding] = useState<Deciding | null>(null);
  const held = useLive<Page<DepositRow>>('/deposits?state=held&limit=100', 5000);
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
  const { partner_id, partner, amount_usdt: usdt } = deposit;
  const found = useOnce<PartnerDetail>(`/partners/${partner_id}`);
  const money = found.data?.balances.live;
  if (isRelease && money)
    return (
      <BalanceChange balance={{ partner_id, partner, mode: 'live', ...money }} effect="credit" usdt={usdt} />
    );
  return (
    <Facts
      facts={[
        [t.partner, partner],
        [t.amount, <Usdt key="amount" bare amount={usdt} />],
      ]}
    />
  );
}

/** What an operator checks elsewhere before deciding, in full. */
function Origin({ deposit }: { deposit: DepositRow }) {
  const t = useTexts(texts);
  const { network, sender, sender_url, transaction_id, transaction_url } = deposit;
  const hash = <code className="wrap-anywhere">{transaction_id}</code>;
  return (
    <dl className="origin">
      <dt>{t.chain}</dt>
      <dd>{network}</dd>
      <dt>{t.sender}</dt>
      <dd>
        <Copyable text={sender} /> <ExplorerLink url={sender_url}>{t.inExplorer}</ExplorerLink>
      </dd>
      <dt>{t.transaction}</dt>
      <dd>
        <ExplorerLink url={transaction_url}>{hash}</ExplorerLink>
      </dd>
    </dl>
  );
}

/** What every list of deposits shows. */
export function useDepositColumns(): Column<DepositRow>[] {
  const t = useTexts(texts);
  return [
    {
      head: t.deposit,
      cell: row => (
        <>
          <ShortId id={row.deposit_id} />
          <span className="under">{row.network}</span>
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
      head: t.partner,
      cell: row => <IdLink id={row.partner_id} text={<Name text={row.partner} />} />,
    },
    { head: t.amount, right: true, cell: row => <Usdt bare amount={row.amount_usdt} /> },
    {
      head: t.transaction,
      cell: row => (
        <>
          <ExplorerLink url={row.transaction_url}>
            <ShortHash text={row.transaction_id} />
          </ExplorerLink>
          <span className="under one-line">
            {t.from}{' '}
            <ExplorerLink url={row.sender_url}>
              <ShortHash text={row.sender} />
            </ExplorerLink>
          </span>
        </>
      ),
    },
    { head: t.seen, cell: row => <Time at={row.seen_at} as="short" /> },
  ];
}
