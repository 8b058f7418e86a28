import { useState } from 'react';
import { query } from '../../api.ts';
import { Download } from '../../parts/download.tsx';
import { DayInput, SelectField } from '../../parts/fields.tsx';
import { Card, PageFrame } from '../../parts/page.tsx';
import { dayOf } from '../../parts/values.tsx';
import { useMode, usePartner } from '../partner.ts';
import { inBoth, useTexts } from '../texts/index.ts';

const texts = inBoth({
  lead: [
    'Every movement of the balance on one day (UTC): opening balance, entries, closing balance, holds.',
    'Все движения баланса за один день (UTC): входящий остаток, проводки, исходящий остаток, холды.',
  ],
  day: ['Day, UTC', 'День, UTC'],
  format: ['Format', 'Формат'],
  download: ['Download', 'Скачать'],
  closed: [
    'The statement of a day that is over never changes: each download has the same bytes and the same digest. The API has the same file: GET /v1/statement.',
    'Выписка за прошедший день не меняется: файл и его контрольная сумма всегда одинаковы. Тот же файл отдаёт API: GET /v1/statement.',
  ],
});

export default function Statements() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const mode = useMode();
  const [day, setDay] = useState(() => dayOf(Date.now() - 86_400_000));
  const [format, setFormat] = useState('csv');
  return (
    <PageFrame title={t.nav.statements} lead={t.lead}>
      <Card>
        <div className="filters">
          <DayInput label={t.day} value={day} onChange={setDay} />
          <SelectField
            label={t.format}
            value={format}
            onChange={setFormat}
            words={{ csv: 'CSV', json: 'JSON' }}
          />
          <Download
            size="sm"
            path={api(`/statement${query({ mode, day, format })}`)}
            label={t.download}
            disabled={day === ''}
          />
        </div>
        <p className="dim">{t.closed}</p>
      </Card>
    </PageFrame>
  );
}
