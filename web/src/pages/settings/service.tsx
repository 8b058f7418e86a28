import { Alert } from '@mantine/core';
import { useState } from 'react';
import type { SettingsPage } from '../../../../src/console/shapes.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Confirm, Outdated } from '../../parts/confirm.tsx';
import { TextField, TimeInput } from '../../parts/fields.tsx';
import { Card, Empty, Facts, Loaded, Rows, useLive } from '../../parts/page.tsx';
import { RequestCard } from '../../parts/request.tsx';
import { actorName, clean, editableIn, Rub, Time, Usdt } from '../../parts/values.tsx';
import { useLanguage, useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

export function Service() {
  const read = useLive<SettingsPage>('/settings', 5000);
  return (
    <>
      <Loaded of={read} />
      {read.data && (
        <div className="stack">
          {read.data.requests.map(request => (
            <RequestCard key={request.request_id} request={request} />
          ))}
          <Maintenance maintenance={read.data.maintenance} />
          <Thresholds thresholds={read.data.thresholds} />
        </div>
      )}
    </>
  );
}

function Maintenance({ maintenance: { on, windows } }: Pick<SettingsPage, 'maintenance'>) {
  const t = useTexts(texts);
  const [switching, setSwitching] = useState(false);
  const [planning, setPlanning] = useState(false);
  const [cancelling, setCancelling] = useState<string | null>(null);
  return (
    <Card
      title={t.maintenance}
      side={
        <div className="actions">
          <Action needs="settings.maintenance" onClick={() => setPlanning(true)}>
            {t.plan}
          </Action>
          <Action
            needs="settings.maintenance"
            variant="filled"
            color={on ? 'blue' : 'red'}
            onClick={() => setSwitching(true)}
          >
            {on ? t.end : t.begin}
          </Action>
        </div>
      }
    >
      <p className="card-lead inline">
        <Badge tone={on ? 'warn' : 'good'}>{on ? t.isOn : t.isOff}</Badge>
        <span className="dim">{on ? t.onSays : t.offSays}</span>
      </p>
      <Rows
        label={t.windows}
        rows={windows}
        keyOf={one => one.window_id}
        empty={<Empty title={t.noWindows}>{t.noWindowsHint}</Empty>}
        columns={[
          { head: t.from, cell: one => <Time at={one.from} /> },
          { head: t.until, cell: one => <Time at={one.until} /> },
          { head: t.plannedBy, cell: one => actorName(one.planned_by) },
          {
            head: t.actions,
            right: true,
            cell: one => (
              <Action needs="settings.maintenance" onClick={() => setCancelling(one.window_id)}>
                {t.callOff}
              </Action>
            ),
          },
        ]}
      />
      {switching && (
        <Confirm
          title={on ? t.end : t.begin}
          says={on ? t.endSays : t.beginSays}
          verb={on ? t.end : t.begin}
          danger={!on}
          run={() => send('/settings/maintenance', { on: !on })}
          onClose={() => setSwitching(false)}
        />
      )}
      {cancelling && (
        <Confirm
          title={t.callOff}
          says={t.callOffSays}
          verb={t.callOff}
          run={() => send('/settings/maintenance/cancel', { window_id: cancelling })}
          onClose={() => setCancelling(null)}
        />
      )}
      {planning && <PlanWindow onClose={() => setPlanning(false)} />}
    </Card>
  );
}

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
      verb={t.plan}
      ready={start !== undefined && end !== undefined && wrong === undefined}
      run={() =>
        send('/settings/maintenance/plan', { from: start?.toISOString(), until: end?.toISOString() })
      }
      onClose={onClose}
    >
      <div className="fields">
        <TimeInput
          label={`${t.from} (UTC)`}
          description={start && localOf(start)}
          required
          value={from}
          onChange={setFrom}
          data-autofocus
        />
        <TimeInput
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

type Values = SettingsPage['thresholds'];

export function Thresholds({ thresholds }: { thresholds: Values }) {
  const t = useTexts(texts);
  const [changing, setChanging] = useState(false);
  return (
    <Card
      title={t.thresholds}
      side={
        <Action needs="settings.thresholds" onClick={() => setChanging(true)}>
          {t.change}
        </Action>
      }
    >
      <p className="dim card-lead">{t.thresholdsSay}</p>
      <Facts
        facts={[
          [t.resolveAbove, <Rub key="rub" amount={thresholds.resolve_rub} />],
          [t.creditAbove, <Usdt key="usdt" amount={thresholds.credit_usdt} />],
        ]}
      />
      {changing && <Change thresholds={thresholds} onClose={() => setChanging(false)} />}
    </Card>
  );
}

function Change({ thresholds, onClose }: { thresholds: Values; onClose: () => void }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const [seen, setSeen] = useState(thresholds);
  const [rub, setRub] = useState(editableIn(language, thresholds.resolve_rub));
  const [usdt, setUsdt] = useState(editableIn(language, thresholds.credit_usdt));
  const isRub = /^\d{1,9}(\.\d{1,2})?$/.test(clean(rub));
  const isUsdt = /^\d{1,9}(\.\d{1,6})?$/.test(clean(usdt));
  const isStale = seen.version !== thresholds.version;
  const isUnchanged = clean(rub) === seen.resolve_rub && clean(usdt) === seen.credit_usdt;
  const isRaised =
    Number(clean(rub)) > Number(seen.resolve_rub) || Number(clean(usdt)) > Number(seen.credit_usdt);
  return (
    <Confirm
      title={t.thresholds}
      says={t.changeSays}
      verb={t.change}
      ready={isRub && isUsdt && !isStale && !isUnchanged}
      run={() =>
        send('/settings/thresholds', {
          resolve_rub: clean(rub),
          credit_usdt: clean(usdt),
          expected_version: seen.version,
        })
      }
      onClose={onClose}
    >
      <div className="fields">
        <TextField
          label={t.resolveAbove}
          inputMode="decimal"
          rightSection="₽"
          value={rub}
          error={!isRub && t.notAnAmount}
          onChange={setRub}
          data-autofocus
        />
        <TextField
          label={t.creditAbove}
          inputMode="decimal"
          rightSection="USDT"
          rightSectionWidth={60}
          value={usdt}
          error={!isUsdt && t.notAnAmount}
          onChange={setUsdt}
        />
      </div>
      {isRaised && <Alert color="yellow">{t.raised}</Alert>}
      {isStale && (
        <Outdated
          title={t.stale}
          verb={t.takePresent}
          onTake={() => {
            setSeen(thresholds);
            setRub(editableIn(language, thresholds.resolve_rub));
            setUsdt(editableIn(language, thresholds.credit_usdt));
          }}
        />
      )}
    </Confirm>
  );
}
