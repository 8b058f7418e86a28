import { Alert } from '@mantine/core';
import { useState } from 'react';
import type { LostHistory as Answer } from '../../../../src/console/shapes.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Rows, useLive } from '../../parts/page.tsx';
import { Count, IdLink, Rub, Time } from '../../parts/values.tsx';
import { inBoth, useTexts, type Words, wordIn } from '../../texts/index.ts';

const texts = inBoth({
  title: ['Restoring lost payments', 'Восстановление утраченных платежей'],
  lead: [
    'After a failover or a restore, the database may lack the latest payments. They are restored from the orders of the payment gateway.',
    'После переключения на резервный сервер или восстановления из копии в базе может не быть последних платежей. Они восстанавливаются по поручениям платёжного шлюза.',
  ],
  waiting: ['New payments are paused', 'Новые платежи приостановлены'],
  waitingHint: [
    'The database is being compared with the payment gateway. Payments are accepted again when they match.',
    'База сверяется с платёжным шлюзом. Платежи снова будут приниматься, когда данные совпадут.',
  ],
  cause: ['Cause', 'Причина'],
  causes: {
    promotion: ['Failover to a standby', 'Переключение на резервный сервер'],
    restore: ['Restore from backup', 'Восстановление из копии'],
    copy: ['Copied database', 'Копия базы'],
  } as Words,
  began: ['Started', 'Начато'],
  certain: ['Data complete until', 'Данные полны до'],
  opened: ['Payments resumed', 'Приём возобновлён'],
  notYet: ['not yet', 'ещё нет'],
  orders: ['Orders read', 'Прочитано поручений'],
  rebuilt: ['Payments restored', 'Восстановлено платежей'],
  recovered: ['Restored payments', 'Восстановленные платежи'],
  at: ['Restored', 'Восстановлен'],
  stray: ['Unmatched orders', 'Несопоставленные поручения'],
  code: ['QR code', 'QR-код'],
  unknownCode: ['unknown: all new payments are paused', 'неизвестен: новые платежи приостановлены'],
  reasons: {
    unreadable: ['Reference cannot be read', 'Не читается ссылка на платёж'],
    no_account: ['Partner not found', 'Партнёр не найден'],
    key_taken: ['Idempotency key already used', 'Ключ идемпотентности занят'],
    qr_in_flight: [
      'Another payment of this QR code is processing',
      'Другой платёж по этому QR-коду в обработке',
    ],
    insufficient_balance: ['Insufficient balance', 'Недостаточно средств на балансе'],
  } as Words,
  release: ['Release', 'Снять блокировку'],
  releaseSays: [
    'The QR code and the idempotency key of this order can be used for payments again. Release the order only when you have found out what it was.',
    'QR-код и ключ идемпотентности этого поручения снова можно будет использовать. Снимайте блокировку, только когда выяснили, что это за поручение.',
  ],
});

/** Nothing, if the database has never lost anything. */
export function LostHistory() {
  const t = useTexts(texts);
  const read = useLive<Answer>('/recovery', 5000);
  const { histories = [], recovered = [], stray = [] } = read.data ?? {};
  if (histories.length === 0) return null;
  return (
    <section className="stack" aria-label={t.title}>
      <h2>{t.title}</h2>
      <p className="dim">{t.lead}</p>
      {histories.some(one => one.opened_at === null) && (
        <Alert color="yellow" role="alert" title={t.waiting}>
          {t.waitingHint}
        </Alert>
      )}
      <Rows
        label={t.title}
        rows={histories}
        keyOf={one => `${one.incarnation}`}
        columns={[
          { head: t.cause, cell: one => wordIn(t.causes, one.cause) },
          { head: t.certain, cell: one => <Time as="short" at={one.certain_at} /> },
          { head: t.began, cell: one => <Time as="short" at={one.began_at} /> },
          {
            head: t.opened,
            cell: one =>
              one.opened_at ? <Time as="short" at={one.opened_at} /> : <Badge tone="open">{t.notYet}</Badge>,
          },
          { head: t.orders, right: true, wideOnly: true, cell: one => <Count value={one.listed_orders} /> },
          { head: t.rebuilt, right: true, cell: one => <Count value={one.recovered_payments} /> },
        ]}
      />
      {stray.length > 0 && <Stray orders={stray} />}
      {recovered.length > 0 && <Recovered payments={recovered} />}
    </section>
  );
}

function Recovered({ payments }: { payments: Answer['recovered'] }) {
  const t = useTexts(texts);
  return (
    <>
      <h3>{t.recovered}</h3>
      <Rows
        label={t.recovered}
        rows={payments}
        keyOf={one => one.payment_id}
        columns={[
          { head: t.payment, cell: one => <IdLink id={one.payment_id} /> },
          { head: t.partner, cell: one => one.partner },
          { head: t.rub, right: true, cell: one => <Rub bare amount={one.amount_rub} /> },
          { head: t.status, cell: one => wordIn(t.states, one.status) },
          { head: t.at, wideOnly: true, cell: one => <Time as="short" at={one.recovered_at} /> },
        ]}
      />
    </>
  );
}

function Stray({ orders }: { orders: Answer['stray'] }) {
  const t = useTexts(texts);
  const [releasing, setReleasing] = useState<string | null>(null);
  return (
    <>
      <h3>{t.stray}</h3>
      <Rows
        label={t.stray}
        rows={orders}
        keyOf={one => one.order}
        columns={[
          { head: t.order, cell: one => <code className="wrap-anywhere">{one.order}</code> },
          { head: t.reason, cell: one => <Badge tone="bad">{wordIn(t.reasons, one.why)}</Badge> },
          { head: t.rub, right: true, cell: one => <Rub bare amount={one.amount_rub} /> },
          { head: t.code, cell: one => (one.qrc_id ? <code>{one.qrc_id}</code> : t.unknownCode) },
          {
            head: t.actions,
            cell: one => (
              <Action needs="payments.resolve" onClick={() => setReleasing(one.order)}>
                {t.release}
              </Action>
            ),
          },
        ]}
      />
      {releasing !== null && (
        <Confirm
          title={t.release}
          says={t.releaseSays}
          verb={t.release}
          danger
          withReason
          run={reason => send('/recovery/release', { order: releasing, reason })}
          onClose={() => setReleasing(null)}
        />
      )}
    </>
  );
}
