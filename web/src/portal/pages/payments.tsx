import type { PaymentRow, PaymentTotals } from '../../../../src/portal/shapes/payments.ts';
import { query } from '../../api.ts';
import { State } from '../../parts/badge.tsx';
import { Download } from '../../parts/download.tsx';
import { SearchField, SelectField } from '../../parts/fields.tsx';
import { FilterForm, NoneFound, useFilters } from '../../parts/filters.tsx';
import { type Column, KeysetTable, PageFrame, useLive } from '../../parts/page.tsx';
import { PeriodFields, timesOf } from '../../parts/period.tsx';
import { Middle, Name, Rub, ShortId, Time, Usdt } from '../../parts/values.tsx';
import { useCommon } from '../../texts/common.ts';
import { useTexts } from '../../texts/language.ts';
import { type Mode, useMode, usePartner } from '../partner.ts';
import { usePortal } from '../texts/index.ts';
import { texts } from './payments.texts.ts';

const names = ['q', 'status', 'period', 'created_after', 'created_before'] as const;
type Filters = Record<(typeof names)[number], string>;

export default function Payments() {
  const t = useTexts(texts);
  const common = useCommon();
  const portal = usePortal();
  const { api } = usePartner();
  const mode = useMode();
  const of = useFilters(names);
  const given = query(asked(of.filters, mode));
  return (
    <PageFrame
      title={portal.nav.payments}
      actions={<Download path={api(`/payments/export${given}`)} label={t.csv} />}
    >
      <FilterForm of={of}>
        {(draft, set, setNow) => (
          <>
            <SearchField
              className="filter-wide"
              label={t.search}
              placeholder={t.searchHint}
              value={draft.q}
              onChange={q => set({ q })}
            />
            <SelectField
              label={t.status}
              value={draft.status}
              any={t.any}
              words={common.states}
              values={['processing', 'succeeded', 'failed']}
              onChange={status => setNow({ status })}
            />
            <PeriodFields value={draft} onChoose={setNow} onTimes={set} />
          </>
        )}
      </FilterForm>
      <Totals path={api(`/payments/totals${given}`)} />
      <KeysetTable<PaymentRow>
        label={portal.nav.payments}
        queryKey={['payments']}
        path={api(`/payments${given}`)}
        everyMs={5000}
        columns={useColumns()}
        keyOf={row => row.payment_id}
        hrefOf={row => `/payments/${row.payment_id}`}
        empty={<NoneFound of={of} t={t} />}
      />
    </PageFrame>
  );
}

function asked({ period, created_after, created_before, ...rest }: Filters, mode: Mode) {
  const { from, until } = timesOf({ period, created_after, created_before });
  return { ...rest, mode, created_after: from, created_before: until };
}

/** The sums of all payments that match the filters, not only of those on the page. */
function Totals({ path }: { path: string }) {
  const t = useTexts(texts);
  const { data } = useLive<PaymentTotals>(['payment totals', path], path, 20_000);
  if (!data || data.totals.length === 0) return null;
  return (
    <section className="totals" aria-label={t.totals}>
      <ul>
        {data.totals.map(({ state, count, rub, usdt }) => (
          <li key={state}>
            <State state={state} />
            <span className="number">{t.payments(count)}</span>
            <Rub amount={rub} />
            <span className="dim">
              <Usdt amount={usdt} cents />
            </span>
          </li>
        ))}
      </ul>
      {!data.is_complete && <p className="dim">{t.totalsCut}</p>}
    </section>
  );
}

function useColumns(): Column<PaymentRow>[] {
  const t = useTexts(texts);
  return [
    { head: t.payment, cell: row => <ShortId id={row.payment_id} /> },
    { head: t.created, cell: row => <Time at={row.created_at} as="short" /> },
    { head: t.status, cell: row => <State state={stateOf(row)} /> },
    { head: t.recipient, cell: row => <Name text={row.recipient} /> },
    { head: t.rub, cell: row => <Rub amount={row.amount_rub} bare />, right: true },
    { head: t.usdt, cell: row => <Usdt amount={row.amount_usdt} bare />, right: true },
    { head: t.externalId, cell: row => <Middle text={row.external_id} />, wideOnly: true },
  ];
}

export const stateOf = ({ status, status_detail }: Pick<PaymentRow, 'status' | 'status_detail'>): string =>
  status === 'processing' && status_detail === 'manual_review' ? 'manual_review' : status;
