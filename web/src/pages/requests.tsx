import { useSearchParams } from 'wouter';
import type { RequestRow } from '../../../src/console/shapes.ts';
import { Choice } from '../parts/fields.tsx';
import { Empty, Loaded, PageFrame, useLive } from '../parts/page.tsx';
import { RequestCard } from '../parts/request.tsx';
import { inBoth, useTexts } from '../texts/index.ts';

const texts = inBoth({
  lead: [
    'Dual approval: one operator requests an action above the threshold, another approves or rejects it.',
    'Подтверждение вторым сотрудником: один запрашивает операцию свыше порога, другой подтверждает или отклоняет её.',
  ],
  waiting: ['Pending', 'Ожидают'],
  approved: ['Approved', 'Подтверждены'],
  refused: ['Rejected', 'Отклонены'],
  withdrawn: ['Withdrawn', 'Отозваны'],
  none: ['No pending requests', 'Ожидающих запросов нет'],
  noneHint: [
    'Payment resolutions and balance credits above the threshold appear here.',
    'Здесь появятся ручные завершения платежей и пополнения баланса свыше порога.',
  ],
  noneElse: ['No requests', 'Запросов нет'],
});

const states = ['waiting', 'approved', 'refused', 'withdrawn'] as const;

export default function Requests() {
  const t = useTexts(texts);
  const [params, setParams] = useSearchParams();
  const state = states.find(one => one === params.get('state')) ?? 'waiting';
  const list = useLive<{ data: RequestRow[] }>(`/requests?state=${state}`, 5000);
  return (
    <PageFrame
      title={t.nav.requests}
      lead={t.lead}
      actions={
        <Choice
          label={t.status}
          value={state}
          options={states.map(one => [one, t[one]])}
          onChange={chosen => setParams(chosen === 'waiting' ? {} : { state: chosen })}
        />
      }
    >
      <Loaded of={list} />
      {list.data?.data.length === 0 && (
        <Empty title={state === 'waiting' ? t.none : t.noneElse}>{state === 'waiting' && t.noneHint}</Empty>
      )}
      <div className="stack">
        {list.data?.data.map(request => (
          <RequestCard key={request.request_id} request={request} withSubject />
        ))}
      </div>
    </PageFrame>
  );
}
