import { useState } from 'react';
import type { SettingsPage } from '../../../../src/console/shapes/settings.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Card, Empty, Loaded, Rows, useLive } from '../../parts/page.tsx';
import { RequestCard } from '../../parts/request.tsx';
import { actorName, Time } from '../../parts/values.tsx';
import { useTexts } from '../../texts/index.ts';
import { PlanWindow } from './plan.tsx';
import { texts } from './texts.ts';
import { Thresholds } from './thresholds.tsx';

export function Service() {
  const read = useLive<SettingsPage>(['settings'], '/settings', 5000);
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
