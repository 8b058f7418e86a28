import { useSearchParams } from 'wouter';
import type { RequestRow } from '../../../src/console/shapes/approvals.ts';
import { Choice } from '../parts/choice.tsx';
import { PageFrame } from '../parts/page.tsx';
import { useLive } from '../parts/polling.ts';
import { RequestCard } from '../parts/request.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Waiting } from '../parts/table.tsx';
import { inBoth, useShared, useTexts } from '../texts/index.ts';

const texts = inBoth({
  en: {
    lead: 'Large amounts need two operators. What one has requested, another approves or refuses here.',
    which: 'Which requests',
    waiting: 'Waiting',
    approved: 'Approved',
    refused: 'Refused',
    withdrawn: 'Withdrawn',
    none: 'Nothing waits for a second operator',
    noneHint: 'When somebody resolves a payment or credits a balance above the set amount, it appears here.',
  },
  ru: {
    lead: 'Для крупных сумм нужны два оператора. Что запросил один, другой одобряет или отклоняет здесь.',
    which: 'Какие запросы',
    waiting: 'Ожидают',
    approved: 'Одобрены',
    refused: 'Отклонены',
    withdrawn: 'Отозваны',
    none: 'Ничто не ждёт второго оператора',
    noneHint: 'Когда кто-то завершит платёж или пополнит баланс свыше заданной суммы, запрос появится здесь.',
  },
});

const states = ['waiting', 'approved', 'refused', 'withdrawn'] as const;

export default function Requests() {
  const shared = useShared();
  const t = useTexts(texts);
  const [params, setParams] = useSearchParams();
  const state = states.find(one => one === params.get('state')) ?? 'waiting';
  const list = useLive<{ data: RequestRow[] }>(['requests', state], `/requests?state=${state}`, 5000);
  return (
    <PageFrame
      title={shared.nav.requests}
      lead={t.lead}
      actions={
        <Choice
          label={t.which}
          value={state}
          options={states.map(one => [one, t[one]])}
          onChange={chosen => setParams(chosen === 'waiting' ? {} : { state: chosen })}
        />
      }
    >
      {list.isPending && <Waiting />}
      {list.isError && <Failure error={list.error} again={() => void list.refetch()} />}
      {list.data?.data.length === 0 && (
        <Empty title={state === 'waiting' ? t.none : shared.nothing}>
          {state === 'waiting' && t.noneHint}
        </Empty>
      )}
      <div className="stack">
        {list.data?.data.map(request => (
          <RequestCard key={request.request_id} request={request} withSubject />
        ))}
      </div>
    </PageFrame>
  );
}
