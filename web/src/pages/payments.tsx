import type { PaymentRow } from '../../../src/console/shapes.ts';
import { query } from '../api.ts';
import { Owner } from '../parts/badge.tsx';
import { Download } from '../parts/download.tsx';
import { FilterForm, NoneFound, useFilters } from '../parts/filters.tsx';
import { KeysetTable, PageFrame } from '../parts/page.tsx';
import { PartnerField } from '../parts/partner-field.tsx';
import { PaymentTotals, paymentColumns } from '../parts/payments.tsx';
import { PeriodFields, timesOf } from '../parts/period.tsx';
import { clean } from '../parts/values.tsx';
import { useTexts } from '../texts/index.ts';
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
  const of = useFilters(names);
  const given = query(asked(of.filters));

  return (
    <PageFrame
      title={t.nav.payments}
      actions={
        <span className="inline">
          <span className="dim">{t.exportHint}</span>
          <Download path={`/payments/export${given}`} label={t.csv} />
        </span>
      }
    >
      <FilterForm
        of={of}
        read={({ amount_rub }) => ({ amount_rub: clean(amount_rub) })}
        fields={[
          { name: 'q', label: t.search, placeholder: t.searchHint, as: 'search', className: 'filter-wide' },
          {
            name: 'state',
            label: t.status,
            words: t.states,
            values: ['processing', 'manual_review', 'succeeded', 'failed'],
          },
          { name: 'mode', label: t.mode, words: t.modes },
          { name: 'amount_rub', label: t.rub, inputMode: 'decimal', className: 'filter-short' },
          ({ partner_id }, _, setNow) => (
            <PartnerField partnerId={partner_id} onChoose={partner_id => setNow({ partner_id })} />
          ),
          (draft, set, setNow) => <PeriodFields value={draft} onChoose={setNow} onTimes={set} />,
        ]}
      />
      <PaymentTotals path={`/payments/totals${given}`} everyMs={15_000} t={t} moved={t.moved} />
      <KeysetTable<PaymentRow>
        label={t.nav.payments}
        path={`/payments${given}`}
        everyMs={4000}
        columns={paymentColumns(t, { head: t.partner, cell: row => <Owner of={row} /> })}
        keyOf={row => row.payment_id}
        hrefOf={row => `/payments/${row.payment_id}`}
        empty={<NoneFound of={of} t={t} />}
      />
    </PageFrame>
  );
}

/** The query parameters of the server. */
function asked({ state, period, created_after, created_before, ...rest }: Filters): Record<string, string> {
  const { from, until } = timesOf({ period, created_after, created_before }, 'UTC');
  return {
    ...rest,
    status: state === 'manual_review' ? 'processing' : state,
    status_detail: state === 'manual_review' ? state : '',
    created_after: from,
    created_before: until,
  };
}
