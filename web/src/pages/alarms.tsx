import type { AlarmKinds, AlarmRow } from '../../../src/console/shapes.ts';
import { query } from '../api.ts';
import { AlarmSubject, AlarmTitle, ClearAlarm } from '../parts/alarm.tsx';
import { Badge } from '../parts/badge.tsx';
import { FilterForm, NoneFound, useFilters } from '../parts/filters.tsx';
import { type Column, KeysetTable, PageFrame, useOnce } from '../parts/page.tsx';
import { PeriodFields, timesOf } from '../parts/period.tsx';
import { actorName, Count, Time } from '../parts/values.tsx';
import { inBoth, useLanguage, useServerText, useShared, useTexts, wordIn } from '../texts/index.ts';

const texts = inBoth({
  lead: [
    'Problems that needed attention in the last year, newest first. An alarm is raised once and counted while it lasts.',
    'Проблемы, которые требовали внимания за последний год, сначала новые. Пока проблема не решена, повторы считаются в одном оповещении.',
  ],
  kind: ['Alarm', 'Оповещение'],
  subject: ['About', 'О чём'],
  raised: ['Raised, UTC', 'Возникло, UTC'],
  last: ['Last, UTC', 'Последний раз, UTC'],
  times: ['Times', 'Сколько раз'],
  alarmStates: {
    open: ['Open', 'Открыто'],
    cleared: ['Cleared', 'Закрыто'],
  },
  none: ['No alarms found', 'Ничего не найдено'],
  noneHint: [
    'Remove some filters, or choose a longer period.',
    'Уберите часть фильтров или выберите более длинный период.',
  ],
  noneYet: ['No alarms yet', 'Оповещений пока не было'],
  noneYetHint: [
    'Problems that need attention appear here.',
    'Здесь появятся проблемы, которые требуют внимания.',
  ],
});

const names = ['kind', 'subject', 'state', 'period', 'created_after', 'created_before'] as const;

export default function Alarms() {
  const t = useTexts(texts);
  const of = useFilters(names);
  const { period, created_after, created_before, ...rest } = of.filters;
  const { from, until } = timesOf({ period, created_after, created_before }, 'UTC');
  const language = useLanguage();
  const known = useOnce<AlarmKinds>('/alarms/kinds').data?.data ?? {};
  const kinds = Object.entries(known)
    .map(([kind, title]) => [kind, title[language]] as const)
    .sort(([, a], [, b]) => a.localeCompare(b));
  return (
    <PageFrame title={t.nav.alarms} lead={t.lead}>
      <FilterForm
        of={of}
        fields={[
          { name: 'state', label: t.state, words: t.alarmStates },
          { name: 'kind', label: t.kind, words: Object.fromEntries(kinds) },
          { name: 'subject', label: t.subject, placeholder: 'pay_… prt_…', maxLength: 256 },
          (draft, set, setNow) => <PeriodFields value={draft} onChoose={setNow} onTimes={set} />,
        ]}
      />
      <KeysetTable<AlarmRow>
        label={t.nav.alarms}
        path={`/alarms${query({ ...rest, since: from, until })}`}
        everyMs={5000}
        keyOf={row => `${row.alarm_id}`}
        empty={<NoneFound of={of} t={t} />}
        columns={useColumns()}
      />
    </PageFrame>
  );
}

function useColumns(): Column<AlarmRow>[] {
  const t = useTexts(texts);
  const { actors } = useShared();
  const serverText = useServerText();
  return [
    { head: t.raised, cell: row => <Time at={row.first_at} as="short" /> },
    {
      head: t.kind,
      cell: row => (
        <>
          <AlarmTitle alarm={row} />
          <span className="under wrap-anywhere">{serverText(row.detail)}</span>
        </>
      ),
    },
    { head: t.subject, cell: row => <AlarmSubject alarm={row} /> },
    {
      head: t.state,
      cell: row =>
        row.cleared_at === null ? (
          <Badge tone="bad">{t.alarmStates.open}</Badge>
        ) : (
          <>
            <Badge tone="plain">{t.alarmStates.cleared}</Badge>
            <span className="under">
              <Time at={row.cleared_at} as="short" /> ·{' '}
              {row.cleared_by && wordIn(actors, actorName(row.cleared_by))}
            </span>
          </>
        ),
    },
    { head: t.last, cell: row => <Time at={row.last_at} as="short" />, wideOnly: true },
    { head: t.times, cell: row => <Count value={row.times} />, right: true },
    { head: t.action, cell: row => (row.cleared_at === null ? <ClearAlarm alarm={row} /> : null) },
  ];
}
