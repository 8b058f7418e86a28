import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ByHandLimits, NoticeSettings, Session, SessionRow } from '../../../../src/portal/shapes.ts';
import { send, session } from '../../api.ts';
import { SelectField, TextField } from '../../parts/fields.tsx';
import { useNotify, useRun } from '../../parts/notify.ts';
import {
  Card,
  type Column,
  Facts,
  Failure,
  KeysetTable,
  PageFrame,
  useOnce,
  Waiting,
} from '../../parts/page.tsx';
import { Ago, Cut, clean, editableIn, Rub, Time } from '../../parts/values.tsx';
import { zoneName } from '../../parts/zone.ts';
import { JoinForm, NewPartnerForm } from '../new-partner.tsx';
import { usePartner, usePerson } from '../partner.ts';
import { Action, useLimitDay } from '../parts.tsx';
import { inBoth, useLanguage, useTexts, type Words, wordIn } from '../texts/index.ts';
import { MonthlyReportCard } from './monthly-report.tsx';

const texts = inBoth({
  notices: ['Notifications in Telegram', 'Уведомления в Telegram'],
  noticesHint: [
    'For all your companies. Notifications about keys and the team are always sent.',
    'По всем вашим компаниям. Уведомления о ключах и команде приходят всегда.',
  ],
  language: ['Language of the bot', 'Язык бота'],
  topics: {
    delivery: ['Events that were not delivered', 'Недоставленные события'],
    sending: ['Webhook suspended or active again', 'Вебхук приостановлен или возобновлён'],
    review: ['Delayed payments', 'Задержанные платежи'],
    low: ['Low balance', 'Низкий баланс'],
    credited: ['Top-ups', 'Пополнения'],
    maintenance: ['Maintenance', 'Технические работы'],
    // What the person wants; whether there is one, an owner decides below.
    report: ['Monthly report, if it is on', 'Отчёт за месяц, если он включён'],
    rate: ['Rate out of date', 'Устаревший курс'],
  } as Words,
  zone: ['Time zone', 'Часовой пояс'],
  zoneHint: [
    'Of this company, for the whole team: pages, filters and reports follow it. The API stays in UTC. Reports of a month begin and end with its days, so change the time zone only together with your accountant.',
    'Для этой компании и всей команды: по нему работают страницы, фильтры и отчёты. В API время остаётся в UTC. Месяц в отчётах начинается и заканчивается по этому поясу, поэтому меняйте его, только согласовав с бухгалтером.',
  ],
  zoneSaved: ['Time zone saved', 'Часовой пояс сохранён'],
  byHand: ['Payments by hand', 'Платежи вручную'],
  byHandHint: [
    'How much payers and owners may pay in the portal, all together and in each mode. 0 means that nobody may.',
    'Сколько плательщики и владельцы могут заплатить в кабинете: все вместе, отдельно в каждом режиме. 0 — платить нельзя.',
  ],
  perPayment: ['One payment, ₽', 'Один платёж, ₽'],
  perDay: (day: string) => [`All payments ${day}, ₽`, `Все платежи ${day}, ₽`],
  sessions: ['Where you are signed in', 'Где выполнен вход'],
  began: ['Signed in', 'Вход'],
  seen: ['Last activity', 'Последняя активность'],
  until: ['Until', 'До'],
  remembered: ['remembered', 'запомнено'],
  thisOne: ['This session', 'Этот сеанс'],
  end: ['Sign out', 'Завершить'],
  newPartner: ['Add another company', 'Добавить компанию'],
});

export default function Settings() {
  const t = useTexts(texts);
  const { may } = usePartner();
  return (
    <PageFrame title={t.nav.settings}>
      <Card title={t.notices}>
        <p className="dim">{t.noticesHint}</p>
        <Notices />
      </Card>
      <Card title={t.zone}>
        <p className="dim">{t.zoneHint}</p>
        <Zone />
      </Card>
      {may('own') && <MonthlyReportCard />}
      <Card title={t.byHand}>
        <p className="dim">{t.byHandHint}</p>
        <ByHand />
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

/** For owners: it changes what everybody of the team sees. */
function Zone() {
  const t = useTexts(texts);
  const person = usePerson();
  const { api, partner, may } = usePartner();
  const { pending, run } = useRun();
  const [chosen, setChosen] = useState(partner.time_zone);
  const zones = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), partner.time_zone])].sort();
  async function save() {
    await send(api('/time-zone'), { time_zone: chosen });
    const partners = person.partners.map(one =>
      one.partner_id === partner.partner_id ? { ...one, time_zone: chosen } : one,
    );
    const changed: Session = { ...person, partners };
    session.set(changed);
  }
  return (
    <div className="filters">
      <SelectField
        label={t.zone}
        value={chosen}
        disabled={!may('own')}
        onChange={setChosen}
        words={Object.fromEntries(zones.map(zone => [zone, `${zone} (${zoneName(zone)})`]))}
      />
      <Action
        needs="own"
        size="sm"
        loading={pending}
        disabled={chosen === partner.time_zone}
        onClick={() => run(save, t.zoneSaved)}
      >
        {t.save}
      </Action>
    </div>
  );
}

/** What people of the team may pay; owners change it. */
function ByHand() {
  const t = useTexts(texts);
  const day = useLimitDay();
  const { api, may } = usePartner();
  const { data, error } = useOnce<ByHandLimits>(api('/pay/limits'));
  if (error) return <Failure error={error} />;
  if (!data) return <Waiting rows={1} />;
  if (may('own')) return <ByHandFields key={JSON.stringify(data)} now={data} />;
  return (
    <Facts
      facts={[
        [t.perPayment, <Rub key="payment" amount={data.max_payment_rub} bare />],
        [t.perDay(day), <Rub key="day" amount={data.max_day_rub} bare />],
      ]}
    />
  );
}

function ByHandFields({ now }: { now: ByHandLimits }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const { pending, run } = useRun();
  const language = useLanguage();
  const day = useLimitDay();
  const [payment, setPayment] = useState(editableIn(language, now.max_payment_rub));
  const [perDay, setPerDay] = useState(editableIn(language, now.max_day_rub));
  const wanted = { max_payment_rub: clean(payment), max_day_rub: clean(perDay) };
  const isSame = wanted.max_payment_rub === now.max_payment_rub && wanted.max_day_rub === now.max_day_rub;
  return (
    <div className="filters">
      <TextField inputMode="decimal" label={t.perPayment} value={payment} onChange={setPayment} />
      <TextField inputMode="decimal" label={t.perDay(day)} value={perDay} onChange={setPerDay} />
      <Action
        needs="own"
        size="sm"
        loading={pending}
        disabled={isSame}
        onClick={() => run(() => send(api('/pay/limits'), wanted))}
      >
        {t.save}
      </Action>
    </div>
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
    {
      head: t.until,
      cell: row => (
        <span className="inline">
          <Time at={row.ends_at} as="short" />
          {row.is_remembered && <span className="dim">{t.remembered}</span>}
        </span>
      ),
    },
    { head: t.address, cell: row => row.address },
    { head: t.browser, cell: row => <Cut text={row.user_agent} />, wideOnly: true },
    {
      head: t.actions,
      cell: row =>
        row.is_this_one ? (
          <span className="dim">{t.thisOne}</span>
        ) : (
          <Action
            needs="money"
            disabled={pending}
            onClick={() => run(() => send(`/sessions/${row.session_id}/end`))}
          >
            {t.end}
          </Action>
        ),
    },
  ];
}
