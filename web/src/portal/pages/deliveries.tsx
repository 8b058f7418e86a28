import { Link } from 'wouter';
import type { DeliveryRow } from '../../../../src/web/shapes.ts';
import { query } from '../../api.ts';
import { LastAnswer, State } from '../../parts/badge.tsx';
import { SelectField } from '../../parts/fields.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Empty, KeysetTable, PageFrame } from '../../parts/page.tsx';
import { Time } from '../../parts/values.tsx';
import { useMode, usePartner } from '../partner.ts';
import { useTexts } from '../texts/index.ts';
import { texts } from './webhook.texts.ts';

export default function Deliveries() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const mode = useMode();
  const { filters, apply } = useFilters(['state']);
  const { pending, delivered, failed } = t.states;
  return (
    <PageFrame title={t.log} lead={<Link href="/webhook">← {t.nav.webhook}</Link>}>
      <div className="filters">
        <SelectField
          label={t.state}
          value={filters.state}
          any={t.any}
          words={{ pending, delivered, failed }}
          onChange={state => apply({ state })}
        />
      </div>
      <KeysetTable<DeliveryRow>
        label={t.log}
        path={api(`/deliveries${query({ mode, ...filters })}`)}
        everyMs={5000}
        columns={[
          { head: t.event, cell: row => <code>{row.event_id}</code> },
          { head: t.at, cell: row => <Time at={row.event_at} as="short" /> },
          { head: t.payment, cell: row => row.event, wideOnly: true },
          { head: t.state, cell: row => <State state={row.state} words={t.states} /> },
          { head: t.answer, cell: row => <LastAnswer of={row.last_attempt} /> },
          { head: t.attempts, cell: row => row.attempts, right: true },
          { head: t.next, cell: row => <Time at={row.next_attempt_at} as="short" />, wideOnly: true },
        ]}
        keyOf={row => `${row.event_id} ${row.endpoint_id}`}
        hrefOf={row => `/deliveries/${row.event_id}${query({ endpoint_id: row.endpoint_id })}`}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </PageFrame>
  );
}
