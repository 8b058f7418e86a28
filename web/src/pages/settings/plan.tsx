import { useState } from 'react';
import { send } from '../../api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { UtcTimeInput } from '../../parts/fields.tsx';
import { useLanguage, useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

const inputOf = (ms: number) => new Date(ms).toISOString().slice(0, 16);
const instantOf = (text: string) => (Number.isNaN(Date.parse(`${text}Z`)) ? undefined : new Date(`${text}Z`));

const hourMs = 3_600_000;

export function PlanWindow({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const [startMs] = useState(() => Math.ceil(Date.now() / hourMs) * hourMs + 24 * hourMs);
  const [from, setFrom] = useState(() => inputOf(startMs));
  const [until, setUntil] = useState(() => inputOf(startMs + hourMs));
  const [start, end] = [instantOf(from), instantOf(until)];
  const wrong =
    !start || !end
      ? undefined
      : end <= start
        ? t.endsBefore
        : end.getTime() < Date.now()
          ? t.past
          : undefined;
  return (
    <Confirm
      title={t.plan}
      says={t.planSays}
      verb={t.planVerb}
      ready={start !== undefined && end !== undefined && wrong === undefined}
      run={() =>
        send('/settings/maintenance/plan', { from: start?.toISOString(), until: end?.toISOString() })
      }
      onClose={onClose}
    >
      <div className="fields">
        <UtcTimeInput
          label={`${t.from} (UTC)`}
          description={start && localOf(start)}
          required
          value={from}
          onChange={setFrom}
          data-autofocus
        />
        <UtcTimeInput
          label={`${t.until} (UTC)`}
          description={end && localOf(end)}
          required
          value={until}
          error={wrong}
          onChange={setUntil}
        />
      </div>
    </Confirm>
  );

  function localOf(at: Date): string {
    const clock = at.toLocaleString(language === 'en' ? 'en-GB' : language, {
      dateStyle: 'medium',
      timeStyle: 'short',
    });
    return `${t.yourTime}: ${clock}`;
  }
}
