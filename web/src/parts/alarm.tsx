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
