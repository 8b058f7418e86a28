import { useState } from 'react';
import type { AlarmRow } from '../../../src/console/shapes/overview.ts';
import { send } from '../api.ts';
import { Action } from '../parts/action.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';
import { Empty } from '../parts/page.tsx';
import { Ago, IdLink, shortId } from '../parts/values.tsx';
import { useServerText, useShared, useTexts, wordIn } from '../texts/index.ts';
import { texts } from './overview.texts.ts';

/** The open alarms, with links to their subjects. */
export function Alarms({ alarms }: { alarms: AlarmRow[] }) {
  const t = useTexts(texts);
  const serverText = useServerText();
  const [clearing, setClearing] = useState<AlarmRow | null>(null);
  if (alarms.length === 0) return <Empty title={t.noAlarms}>{t.noAlarmsHint}</Empty>;
  return (
    <>
      <ul className="alarms">
        {alarms.map(alarm => (
          <li key={alarm.alarm_id}>
            <Icon name="alarm" />
            <div className="alarm-body">
              <p>
                <strong>{wordIn(t.kinds, alarm.kind)}</strong> <Subject subject={alarm.subject} />
              </p>
              <p className="wrap-anywhere">{serverText(alarm.detail)}</p>
              <p className="dim">
                <Ago at={alarm.last_at} />
                {alarm.times > 1 && ` · ${t.times(alarm.times)}`}
              </p>
            </div>
            <Action needs="alarms.clear" size="compact-xs" onClick={() => setClearing(alarm)}>
              {t.clear}
            </Action>
          </li>
        ))}
      </ul>
      {clearing && (
        <Confirm
          title={t.clearTitle}
          says={
            <>
              <p>
                <strong>{wordIn(t.kinds, clearing.kind)}</strong>
              </p>
              <p>{t.clearSays}</p>
            </>
          }
          verb={t.clear}
          run={() => send(`/alarms/${clearing.alarm_id}/clear`)}
          onClose={() => setClearing(null)}
        />
      )}
    </>
  );
}

function Subject({ subject }: { subject: string }) {
  const { subjects } = useShared();
  if (/^(pay|prt)_/.test(subject)) return <IdLink id={subject} text={shortId(subject)} />;
  return <span className="dim">{wordIn(subjects, subject)}</span>;
}
