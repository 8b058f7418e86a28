import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import type { DepositChainList, DepositRow } from '../../../src/console/shapes/deposits.ts';
import { query } from '../api.ts';
import { SearchField, SelectField } from '../parts/fields.tsx';
import { ClearFilters, NoneFound, useFilters } from '../parts/filters.tsx';
import { Card, Empty, Failure, KeysetTable, PageFrame, Rows, useLive, Waiting } from '../parts/page.tsx';
import { PartnerField } from '../parts/partner-field.tsx';
import { Count, Duration, Time } from '../parts/values.tsx';
import { useShared, useTexts } from '../texts/index.ts';
import { useDepositColumns } from './deposits/columns.tsx';
import { HeldDeposits } from './deposits/held.tsx';
import { texts } from './deposits/texts.ts';

/** USDT deposits: held ones first, then how far each chain is booked, then all. */
export default function Deposits() {
  const t = useTexts(texts);
  const shared = useShared();
  return (
    <PageFrame title={shared.nav.deposits} lead={t.lead}>
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
  const found = useLive<DepositChainList>(['deposit chains'], '/deposits/chains', 5000);
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
          { head: t.chain, cell: one => one.title },
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
        queryKey={['all deposits']}
        path={`/deposits${query(filters)}`}
        everyMs={5000}
        columns={columns}
        keyOf={row => row.deposit_id}
        empty={<NoneFound of={of} t={t} />}
      />
    </Card>
  );
}
