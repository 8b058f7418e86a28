import { useState } from 'react';
import { Link } from 'wouter';
import type { AlarmRow } from '../../../src/console/shapes.ts';
import { send } from '../api.ts';
import { inBoth, useShared, useTexts, wordIn } from '../texts/index.ts';
import { Action } from './action.tsx';
import { Confirm } from './confirm.tsx';
import { shortId } from './values.tsx';

const texts = inBoth({
  clear: ['Clear', 'Закрыть'],
  clearTitle: ['Clear alarm', 'Закрыть оповещение'],
  clearSays: [
    'The alarm is closed for all operators. If the problem persists, it is raised again.',
    'Оповещение закроется для всех сотрудников. Если проблема осталась, оно появится снова.',
  ],
});

interface AlarmProps {
  alarm: AlarmRow;
}

export const AlarmTitle = ({ alarm }: AlarmProps) => <strong>{useTexts(alarm.title)}</strong>;

/** What the alarm is about, with a link if it has a page. */
export function AlarmSubject({ alarm }: AlarmProps) {
  const { subjects } = useShared();
  const { subject, page } = alarm;
  const isId = /^(pay|prt|whe|dep)_/.test(subject);
  const text = isId ? shortId(subject) : wordIn(subjects, subject);
  return page ? (
    <Link href={page} title={subject}>
      {text}
    </Link>
  ) : (
    <span className="dim wrap-anywhere">{text}</span>
  );
}

export function ClearAlarm({ alarm }: AlarmProps) {
  const t = useTexts(texts);
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
                <AlarmTitle alarm={alarm} />
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
