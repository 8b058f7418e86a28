import type { PaymentRow, PaymentTotals } from '../../../src/console/shapes/payments.ts';
import { query } from '../api.ts';
import { State, TestMark } from '../parts/badge.tsx';
import { Download } from '../parts/download.tsx';
import { SearchField, SelectField, TextField } from '../parts/fields.tsx';
import { FilterForm, NoneFound, useFilters } from '../parts/filters.tsx';
import { type Column, KeysetTable, PageFrame, useLive } from '../parts/page.tsx';
import { PartnerField } from '../parts/partner-field.tsx';
import { PeriodFields, timesOf } from '../parts/period.tsx';
import { Middle, Name, Rub, ShortId, Time, Usdt } from '../parts/values.tsx';
import { useShared, useTexts } from '../texts/index.ts';
import { texts } from './payments.texts.ts';

const names = [
  'q',
  'state',
  'mode',
  'amount_rub',
  'period',
  'created_after',
  'created_before',
  'partner_id',
  'payment_id',
  'external_id',
  'qr',
  'recipient',
] as const;
type Filters = Record<(typeof names)[number], string>;

export default function Payments() {
  const t = useTexts(texts);
  const shared = useShared();
  const of = useFilters(names);
  const given = query(asked(of.filters));

  return (
    <PageFrame
      title={shared.nav.payments}
      actions={
        <span className="inline">
          <span className="dim">{t.exportHint}</span>
          <Download path={`/payments/export${given}`} label={t.csv} />
        </span>
      }
    >
      <Fields of={of} />
      <Totals given={given} />
      <KeysetTable<PaymentRow>
        label={t.list}
        queryKey={['payments']}
        path={`/payments${given}`}
        everyMs={4000}
        columns={usePaymentColumns()}
        keyOf={row => row.payment_id}
        hrefOf={row => `/payments/${row.payment_id}`}
        empty={<NoneFound of={of} t={t} />}
      />
    </PageFrame>
  );
}

/** The query parameters of the server. */
function asked({ state, period, created_after, created_before, ...rest }: Filters): Record<string, string> {
  const { from, until } = timesOf({ period, created_after, created_before });
  return {
    ...rest,
    status: state === 'manual_review' ? 'processing' : state,
    status_detail: state === 'manual_review' ? state : '',
    created_after: from,
    created_before: until,
  };
}

/** The sums of all payments that match the filters, not only of those on the page. */
function Totals({ given }: { given: string }) {
  const t = useTexts(texts);
  const read = useLive<PaymentTotals>(['payment totals', given], `/payments/totals${given}`, 15_000);
  if (!read.data || read.data.totals.length === 0) return null;
  return (
    <section className="totals" aria-label={t.totals}>
      <ul>
        {read.data.totals.map(({ mode, state, count, rub, usdt }) => (
          <li key={`${mode} ${state}`}>
            <State state={state} />
            <TestMark mode={mode} />
            <span className="number">{t.payments(count)}</span>
            <Rub amount={rub} />
            <span className="dim">
              {t.moved[state]} <Usdt amount={usdt} />
            </span>
          </li>
        ))}
      </ul>
      {!read.data.is_complete && <p className="dim">{t.totalsCut}</p>}
    </section>
  );
}

export function usePaymentColumns(): Column<PaymentRow>[] {
  const t = useTexts(texts);
  return [
    { head: t.payment, cell: row => <ShortId id={row.payment_id} /> },
    { head: t.created, cell: row => <Time at={row.created_at} as="short" /> },
    { head: t.status, cell: row => <State state={stateOf(row)} /> },
    {
      head: t.partner,
      cell: row => (
        <span className="inline">
          <Name text={row.partner} />
          <TestMark mode={row.mode} />
        </span>
      ),
    },
    { head: t.recipient, cell: row => <Name text={row.recipient} /> },
    { head: t.rub, cell: row => <Rub amount={row.amount_rub} bare />, right: true },
    { head: t.usdt, cell: row => <Usdt amount={row.amount_usdt} bare />, right: true, wideOnly: true },
    { head: t.externalId, cell: row => <Middle text={row.external_id} />, wideOnly: true },
  ];
}

export const stateOf = ({ status, status_detail }: Pick<PaymentRow, 'status' | 'status_detail'>): string =>
  status === 'processing' && status_detail === 'manual_review' ? 'manual_review' : status;

function Fields({ of }: { of: ReturnType<typeof useFilters<keyof Filters>> }) {
  const t = useTexts(texts);
  const shared = useShared();
  return (
    <FilterForm of={of} read={({ amount_rub }) => ({ amount_rub: amount_rub.trim().replace(',', '.') })}>
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
            value={draft.state}
            any={t.any}
            words={shared.states}
            values={['processing', 'manual_review', 'succeeded', 'failed']}
            onChange={state => setNow({ state })}
          />
          <SelectField
            label={t.mode}
            value={draft.mode}
            any={t.any}
            words={{ live: t.live, test: t.test }}
            onChange={mode => setNow({ mode })}
          />
          <TextField
            className="filter-short"
            label={t.amount}
            inputMode="decimal"
            value={draft.amount_rub}
            onChange={amount_rub => set({ amount_rub })}
          />
          <PartnerField partnerId={draft.partner_id} onChoose={partner_id => setNow({ partner_id })} />
          <PeriodFields value={draft} onChoose={setNow} onTimes={set} />
        </>
      )}
    </FilterForm>
  );
}
