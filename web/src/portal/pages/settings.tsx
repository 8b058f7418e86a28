import { useQueryClient } from '@tanstack/react-query';
import type { NoticeSettings } from '../../../../src/portal/shapes.ts';
import type { SessionRow } from '../../../../src/web/shapes.ts';
import { send } from '../../api.ts';
import { SelectField } from '../../parts/fields.tsx';
import { useNotify, useRun } from '../../parts/notify.ts';
import { Card, type Column, Failure, KeysetTable, PageFrame, useOnce, Waiting } from '../../parts/page.tsx';
import { Ago, Cut, Time } from '../../parts/values.tsx';
import { JoinForm, NewPartnerForm } from '../new-partner.tsx';
import { Action } from '../parts.tsx';
import { inBoth, useTexts, type Words, wordIn } from '../texts/index.ts';

const texts = inBoth({
  notices: ['Notifications in Telegram', 'Уведомления в Telegram'],
  noticesHint: [
    'For all your partners. Notifications about keys and the team are always sent.',
    'По всем вашим партнёрам. Уведомления о ключах и команде приходят всегда.',
  ],
  language: ['Language of the bot', 'Язык бота'],
  topics: {
    delivery: ['Events that were not delivered', 'Недоставленные события'],
    sending: ['Webhook suspended or active again', 'Вебхук приостановлен или возобновлён'],
    review: ['Delayed payments', 'Задержанные платежи'],
    low: ['Low balance', 'Низкий баланс'],
    credited: ['Top-ups', 'Пополнения'],
    maintenance: ['Maintenance', 'Технические работы'],
    rate: ['Rate out of date', 'Устаревший курс'],
  } as Words,
  sessions: ['Where you are signed in', 'Где выполнен вход'],
  began: ['Signed in, UTC', 'Вход, UTC'],
  seen: ['Last activity', 'Последняя активность'],
  thisOne: ['This session', 'Этот сеанс'],
  end: ['Sign out', 'Завершить'],
  newPartner: ['Add another company', 'Добавить компанию'],
});

export default function Settings() {
  const t = useTexts(texts);
  return (
    <PageFrame title={t.nav.settings}>
      <Card title={t.notices}>
        <p className="dim">{t.noticesHint}</p>
        <Notices />
      </Card>
      <Card title={t.sessions}>
        <KeysetTable<SessionRow>
          label={t.sessions}
          path="/sessions"
          columns={useColumns()}
          keyOf={row => row.session_id}
        />
      </Card>
      <Card title={t.newPartner}>
        <div className="charts">
          <NewPartnerForm />
          <JoinForm />
        </div>
      </Card>
    </PageFrame>
  );
}

function Notices() {
  const t = useTexts(texts);
  const notify = useNotify();
  const queries = useQueryClient();
  const { data, error } = useOnce<NoticeSettings>('/notices');
  if (error) return <Failure error={error} />;
  if (!data) return <Waiting rows={3} />;
  const change = (path: string, body: object) =>
    void send(path, body)
      .catch(notify.failed)
      .then(() => queries.invalidateQueries({ queryKey: ['/notices'] }));
  function mute(topic: string, isMuted: boolean) {
    const others = data!.topics.filter(one => one.is_muted && one.topic !== topic).map(one => one.topic);
    change('/notices', { muted: isMuted ? [...others, topic] : others });
  }
  return (
    <div className="portal-notices">
      {data.language && (
        <SelectField
          label={t.language}
          className="portal-language"
          value={data.language}
          onChange={language => change('/notices/language', { language })}
          words={{ ru: 'Русский', en: 'English' }}
        />
      )}
      {data.topics.map(({ topic, is_muted }) => (
        <label key={topic}>
          <input
            type="checkbox"
            checked={!is_muted}
            onChange={event => mute(topic, !event.currentTarget.checked)}
          />
          {wordIn(t.topics, topic)}
        </label>
      ))}
    </div>
  );
}

function useColumns(): Column<SessionRow>[] {
  const t = useTexts(texts);
  const { pending, run } = useRun();
  return [
    { head: t.began, cell: row => <Time at={row.created_at} as="short" /> },
    { head: t.seen, cell: row => <Ago at={row.last_seen_at} /> },
    { head: t.address, cell: row => row.address },
    { head: t.browser, cell: row => <Cut text={row.user_agent} />, wideOnly: true },
    {
      head: t.actions,
      cell: row =>
        row.is_this_one ? (
          <span className="dim">{t.thisOne}</span>
        ) : (
          <Action
            needs="viewer"
            disabled={pending}
            onClick={() => run(() => send(`/sessions/${row.session_id}/end`))}
          >
            {t.end}
          </Action>
        ),
    },
  ];
}
