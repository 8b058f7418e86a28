import type { PaymentRow } from '../../../../src/web/shapes.ts';
import { query } from '../../api.ts';
import { Download } from '../../parts/download.tsx';
import { FilterForm, NoneFound, useFilters } from '../../parts/filters.tsx';
import { KeysetTable, PageFrame } from '../../parts/page.tsx';
import { PaymentTotals, paymentColumns } from '../../parts/payments.tsx';
import { PeriodFields, timesOf } from '../../parts/period.tsx';
import { useZone } from '../../parts/zone-context.ts';
import { type Mode, useMode, usePartner } from '../partner.ts';
import { inBoth, useTexts } from '../texts/index.ts';

const inRussian = new Intl.PluralRules('ru');
const platezh = { one: 'платёж', few: 'платежа' } as Record<string, string>;

const texts = inBoth({
  created: ['Created', 'Создан'],
  usdt: 'USDT',
  totalsCut: ['Only the newest 20,000 payments are counted.', 'Подсчитаны только последние 20 000 платежей.'],
  payments: (count: number) => [
    count === 1 ? '1 payment' : `${count} payments`,
    `${count} ${platezh[inRussian.select(count)] ?? 'платежей'}`,
  ],
  none: ['No payments found', 'Ничего не найдено'],
  noneHint: ['Remove some filters.', 'Уберите часть фильтров.'],
  noneYet: ['No payments yet', 'Платежей пока нет'],
  noneYetHint: [
    'Payments that you create with the API appear here.',
    'Здесь появятся платежи, созданные через API.',
  ],
});

const names = ['q', 'status', 'period', 'created_after', 'created_before'] as const;
type Filters = Record<(typeof names)[number], string>;

export default function Payments() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const mode = useMode();
  const of = useFilters(names);
  const given = query(asked(of.filters, mode, useZone()));
  return (
    <PageFrame
      title={t.nav.payments}
      actions={<Download path={api(`/payments/export${given}`)} label={t.csv} />}
    >
      <FilterForm
        of={of}
        fields={[
          { name: 'q', label: t.search, placeholder: t.searchHint, as: 'search', className: 'filter-wide' },
          {
            name: 'status',
            label: t.status,
            words: t.states,
            values: ['processing', 'succeeded', 'failed'],
          },
          (draft, set, setNow) => <PeriodFields value={draft} onChoose={setNow} onTimes={set} />,
        ]}
      />
      <PaymentTotals path={api(`/payments/totals${given}`)} everyMs={20_000} t={t} />
      <KeysetTable<PaymentRow>
        label={t.nav.payments}
        path={api(`/payments${given}`)}
        everyMs={5000}
        columns={paymentColumns(t)}
        keyOf={row => row.payment_id}
        hrefOf={row => `/payments/${row.payment_id}`}
        empty={<NoneFound of={of} t={t} />}
      />
    </PageFrame>
  );
}

function asked({ period, created_after, created_before, ...rest }: Filters, mode: Mode, zone: string) {
  const { from, until } = timesOf({ period, created_after, created_before }, zone);
  return { ...rest, mode, created_after: from, created_before: until };
}
