import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { WebhookPage } from '../../../../src/portal/shapes.ts';
import type { DeliveryRow } from '../../../../src/web/shapes.ts';
import { query } from '../../api.ts';
import { LastAnswer, State } from '../../parts/badge.tsx';
import { FilterForm, NoneFound, useFilters } from '../../parts/filters.tsx';
import { type Column, KeysetTable, PageFrame, useOnce } from '../../parts/page.tsx';
import { PeriodFields, timesOf } from '../../parts/period.tsx';
import { ResendFailedDialog } from '../../parts/resend-failed.tsx';
import { Middle, Time } from '../../parts/values.tsx';
import { useZone } from '../../parts/zone-context.ts';
import { resendTexts } from '../../texts/resend.ts';
import { useMode, usePartner } from '../partner.ts';
import { useTexts, wordIn } from '../texts/index.ts';
import { texts } from './webhook.texts.ts';

const names = ['q', 'state', 'event', 'endpoint_id', 'period', 'created_after', 'created_before'] as const;

export default function Deliveries() {
  const t = useTexts(texts);
  const { allFailed } = useTexts(resendTexts);
  const { api } = usePartner();
  const mode = useMode();
  const of = useFilters(names);
  const [isSending, setSending] = useState(false);
  const endpoints = useOnce<WebhookPage>(api('/webhook')).data?.endpoints ?? [];
  const urls = Object.fromEntries(endpoints.map(one => [one.endpoint_id, one.url]));
  const { period, created_after, created_before, state, ...rest } = of.filters;
  const { from, until } = timesOf({ period, created_after, created_before }, useZone());
  const filters = { mode, ...rest, since: from, until };
  const { pending, delivered, failed } = t.states;
  return (
    <PageFrame title={t.log} lead={<Link href="/webhook">← {t.nav.webhook}</Link>}>
      <FilterForm
        of={of}
        fields={[
          { name: 'q', as: 'search', label: t.search, placeholder: t.deliverySearchHint, maxLength: 256 },
          { name: 'state', label: t.state, any: t.any, words: { pending, delivered, failed } },
          { name: 'event', label: t.event, any: t.anyEvent, words: t.eventNames },
          ...(endpoints.length > 1
            ? [{ name: 'endpoint_id' as const, label: t.endpoint, any: t.anyEndpoint, words: urls }]
            : []),
          (draft, set, setNow) => <PeriodFields value={draft} onChoose={setNow} onTimes={set} />,
        ]}
      />
      <KeysetTable<DeliveryRow>
        label={t.log}
        path={api(`/deliveries${query({ ...filters, state })}`)}
        everyMs={5000}
        columns={useColumns(endpoints.length > 1 ? urls : {})}
        keyOf={row => `${row.event_id} ${row.endpoint_id}`}
        hrefOf={row => `/deliveries/${row.event_id}${query({ endpoint_id: row.endpoint_id })}`}
        above={() => (
          <div className="selection">
            <Button size="xs" variant="default" onClick={() => setSending(true)}>
              {allFailed}
            </Button>
          </div>
        )}
        empty={<NoneFound of={of} t={t.found} />}
      />
      {isSending && (
        <ResendFailedDialog path={api('/deliveries')} filters={filters} onClose={() => setSending(false)} />
      )}
    </PageFrame>
  );
}

/** Of several endpoints, each row says to which one it goes. */
function useColumns(urls: Record<string, string>): Column<DeliveryRow>[] {
  const t = useTexts(texts);
  return [
    {
      head: t.eventId,
      cell: row => (
        <>
          <code>{row.event_id}</code>
          {urls[row.endpoint_id] && <span className="under wrap-anywhere">{urls[row.endpoint_id]}</span>}
        </>
      ),
    },
    { head: t.at, cell: row => <Time at={row.event_at} as="short" /> },
    { head: t.event, cell: row => wordIn(t.eventNames, row.event) },
    { head: t.externalId, cell: row => <Middle text={row.external_id} /> },
    { head: t.state, cell: row => <State state={row.state} words={t.states} /> },
    { head: t.answer, cell: row => <LastAnswer of={row.last_attempt} /> },
    { head: t.attempts, cell: row => row.attempts, right: true },
    { head: t.next, cell: row => <Time at={row.next_attempt_at} as="short" />, wideOnly: true },
  ];
}
