import { useState } from 'react';
import { Link } from 'wouter';
import type { AlarmRow } from '../../../src/console/shapes.ts';
import { send } from '../api.ts';
import { alarmTexts } from '../texts/alarms.ts';
import { useShared, useTexts, wordIn } from '../texts/index.ts';
import { Action } from './action.tsx';
import { Confirm } from './confirm.tsx';
import { shortId } from './values.tsx';

interface AlarmProps {
  alarm: AlarmRow;
}

/** Pages of subjects that are no payment, partner or deposit, by how their names begin. */
const pages: [begins: string, path: string][] = [
  ['ledger', '/ledger'],
  ['rate', '/rates'],
  ['refunds', '/reconciliation'],
  ['reconciliation', '/reconciliation'],
  ['deposits ', '/deposits'],
];

/** Where an operator can look at what the alarm is about; undefined if no page shows it. */
function pageOf({ kind, subject, detail, partner_id }: AlarmRow): string | undefined {
  // An order without a payment, and what differs from the list of orders.
  if (kind === 'stray_order') return '/reconciliation';
  if (subject.startsWith('pay_')) return `/payments/${subject}`;
  if (partner_id) return `/partners/${partner_id}/webhook`;
  if (subject.startsWith('prt_'))
    return kind.startsWith('webhook') ? `/partners/${subject}/webhook` : `/partners/${subject}`;
  if (subject.startsWith('dep_')) return `/deposits?q=${subject}`;
  if (kind.startsWith('deposit_')) return '/deposits';
  if (kind.startsWith('rate_')) return '/rates';
  // A refund has the id of the gateway; what is wrong with it names its payment.
  const payment = kind.startsWith('refund') ? /pay_[0-9a-z]{26}/.exec(detail)?.[0] : undefined;
  if (payment) return `/payments/${payment}`;
  return pages.find(([begins]) => subject.startsWith(begins))?.[1];
}

/** What the alarm is about, with a link if it has a page. */
export function AlarmSubject({ alarm }: AlarmProps) {
  const { subjects } = useShared();
  const { subject } = alarm;
  const isId = /^(pay|prt|whe|dep)_/.test(subject);
  const text = isId ? shortId(subject) : wordIn(subjects, subject);
  const page = pageOf(alarm);
  return page ? (
    <Link href={page} title={subject}>
      {text}
    </Link>
  ) : (
    <span className="dim wrap-anywhere">{text}</span>
  );
}

export function ClearAlarm({ alarm }: AlarmProps) {
  const t = useTexts(alarmTexts);
  const [isClearing, setClearing] = useState(false);
  return (
    <>
      <Action needs="alarms.clear" size="compact-xs" onClick={() => setClearing(true)}>
        {t.clear}
      </Action>
      {isClearing && (
        <Confirm
          title={t.clearTitle}
          says={
            <>
              <p>
                <strong>{wordIn(t.kinds, alarm.kind)}</strong>
              </p>
              <p>{t.clearSays}</p>
            </>
          }
          verb={t.clear}
          run={() => send(`/alarms/${alarm.alarm_id}/clear`)}
          onClose={() => setClearing(false)}
        />
      )}
    </>
  );
}
