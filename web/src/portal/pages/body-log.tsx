import type { BodyLog } from '../../../../src/portal/shapes.ts';
import { send } from '../../api.ts';
import { State } from '../../parts/badge.tsx';
import { useRun } from '../../parts/notify.ts';
import { Card, Failure, useOnce, Waiting } from '../../parts/page.tsx';
import { Time } from '../../parts/values.tsx';
import { usePartner } from '../partner.ts';
import { Action } from '../parts.tsx';
import { inBoth, useTexts } from '../texts/index.ts';

const texts = inBoth({
  title: ['Bodies of requests and responses', 'Тела запросов и ответов'],
  says: [
    'To find an error, let us keep the bodies of your API requests for a while. They hold metadata and order numbers; keys and names of recipients are removed. Developers and owners of your team can read them here. A body is cut at 64 KiB, kept for seven days, and left out when there are very many.',
    'Чтобы найти ошибку, включите на время запись тел запросов к API. В них есть метаданные и номера заказов; ключи и имена получателей удаляются. Читать тела могут разработчики и владельцы вашей команды. Тело обрезается до 64 КиБ и хранится семь дней; если запросов очень много, часть тел не записывается.',
  ],
  states: { on: ['On', 'Запись идёт'], off: ['Off', 'Запись выключена'] },
  until: ['On until', 'До'],
  hour: ['For an hour', 'На час'],
  day: ['For a day', 'На сутки'],
  week: ['For a week', 'На неделю'],
  stop: ['Turn off', 'Выключить'],
});

/** Whether bodies are kept; for owners: to begin and to end it. */
export function BodyLogCard() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const { data, error } = useOnce<BodyLog>(api('/body-log'));
  const { pending, run } = useRun();
  if (error) return <Failure error={error} />;
  if (!data) return <Waiting rows={2} />;
  const isOn = isLogging(data);
  const choose = (duration: string) => run(() => send(api('/body-log'), { duration }));
  return (
    <Card title={t.title} side={<State state={isOn ? 'on' : 'off'} words={t.states} />}>
      <p className="dim">{t.says}</p>
      <div className="between">
        <span>
          {isOn && (
            <>
              {t.until} <Time at={data.until} />
            </>
          )}
        </span>
        <div className="actions">
          {(['hour', 'day', 'week'] as const).map(duration => (
            <Action
              key={duration}
              needs="own"
              variant="default"
              size="xs"
              disabled={pending}
              onClick={() => choose(duration)}
            >
              {t[duration]}
            </Action>
          ))}
          {isOn && (
            <Action needs="own" size="xs" disabled={pending} onClick={() => choose('off')}>
              {t.stop}
            </Action>
          )}
        </div>
      </div>
    </Card>
  );
}

const isLogging = ({ until }: BodyLog) => until !== null && Date.parse(until) > Date.now();
