import { useState } from 'react';
import type { Mode } from '../../../../src/console/shapes/common.ts';
import { query } from '../../api.ts';
import { Download } from '../../parts/download.tsx';
import { Choice, UtcDayInput } from '../../parts/fields.tsx';
import { Card } from '../../parts/page.tsx';
import { useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The statement of one UTC day. */
export function StatementCard({ partnerId }: { partnerId: string }) {
  const t = useTexts(texts);
  const [mode, setMode] = useState<Mode>('live');
  const [day, setDay] = useState(() => dayOf(Date.now() - 86_400_000));
  const today = dayOf(Date.now());
  const isWrong = !/^\d{4}-\d\d-\d\d$/.test(day) || day > today;
  const path = (format: 'csv' | 'json') => `/partners/${partnerId}/statement${query({ mode, day, format })}`;
  return (
    <Card title={t.statement}>
      <p className="dim card-lead">{t.statementSays}</p>
      <div className="filters">
        <UtcDayInput label={t.day} value={day} error={isWrong && t.notADay} onChange={setDay} />
        <Choice
          label={t.mode}
          value={mode}
          options={[
            ['live', t.modes.live],
            ['test', t.modes.test],
          ]}
          onChange={setMode}
        />
        <Download path={path('csv')} label={t.csv} size="sm" disabled={isWrong} />
        <Download path={path('json')} label={t.json} size="sm" disabled={isWrong} />
      </div>
      {day === today && <p className="dim">{t.dayOpen}</p>}
    </Card>
  );
}
