import { useState } from 'react';
import { query } from '../../api.ts';
import { Download } from '../../parts/download.tsx';
import { Choice, DayInput, SelectField, TextField } from '../../parts/fields.tsx';
import { Card, PageFrame } from '../../parts/page.tsx';
import { dayOf } from '../../parts/values.tsx';
import { addDays, dayIn } from '../../parts/zone.ts';
import { useZone } from '../../parts/zone-context.ts';
import { useMode, usePartner } from '../partner.ts';
import { inBoth, useLanguage, useTexts } from '../texts/index.ts';

const texts = inBoth({
  report: ['Report for the accountant', 'Отчёт для бухгалтера'],
  reportLead: (zone: string) => [
    `Payments, refunds and top-ups with the balance before and after. Days are those of the time zone ${zone}, which an owner can change in the settings.`,
    `Платежи, возвраты и пополнения с остатком на начало и конец. Дни — по часовому поясу ${zone}, его меняет владелец в настройках.`,
  ],
  period: ['Period', 'Период'],
  kinds: { month: ['Month', 'Месяц'], day: ['Day', 'День'], days: ['Period', 'Период'] },
  month: ['Month', 'Месяц'],
  dayOfReport: ['Day', 'День'],
  from: ['From', 'С'],
  to: ['To', 'По'],
  formats: {
    xlsx: ['Excel (XLSX)', 'Excel (XLSX)'],
    csv: ['CSV for Excel', 'CSV для Excel'],
    '1c': ['1C (bank exchange)', '1С (обмен с банком)'],
    pdf: ['Reconciliation act (PDF)', 'Акт сверки (PDF)'],
  },
  unfinished: [
    'This period is not over: the file has the data up to now and will change. When the period is over, it never changes again.',
    'Период ещё не завершён: в файле данные на текущий момент, и они изменятся. После завершения периода файл не меняется.',
  ],
  finished: [
    'The period is over: each download has the same rows and sums, whatever is refunded later.',
    'Период завершён: при каждом скачивании строки и суммы те же, даже если позже будут возвраты.',
  ],
  oneC: [
    'The file for 1C has rubles only: payments and refunds, and per day one document that covers them in USDT.',
    'В файле для 1С только рубли: платежи и возвраты, а за каждый день — документ покрытия в USDT.',
  ],
  aboutFiles: ['What each file is for', 'Что в каком файле и как загрузить в 1С'],
  statement: ['Statement of one UTC day, for programs', 'Выписка за день UTC для программ'],
  lead: [
    'Every movement of the balance on one day (UTC): opening balance, entries, closing balance, holds.',
    'Все движения баланса за один день (UTC): входящий остаток, проводки, исходящий остаток, резервы.',
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
  return (
    <PageFrame title={t.nav.statements}>
      <Card title={t.report}>
        <Reports />
      </Card>
      <Card title={t.statement}>
        <DayStatement />
      </Card>
    </PageFrame>
  );
}

const kinds = ['month', 'day', 'days'] as const;
const formats = ['xlsx', 'csv', '1c', 'pdf'] as const;
const shownMonths = 24;

/** `2026-10` and those before it, the newest first. */
function monthsUpTo(month: string): string[] {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return Array.from({ length: shownMonths }, (_, age) =>
    new Date(Date.UTC(year, number - 1 - age, 1)).toISOString().slice(0, 7),
  );
}

const lastDayOf = (month: string) => addDays(`${addDays(`${month}-28`, 4).slice(0, 7)}-01`, -1);

function Reports() {
  const t = useTexts(texts);
  const language = useLanguage();
  const zone = useZone();
  const mode = useMode();
  const { api } = usePartner();
  const today = dayIn(zone);
  const months = monthsUpTo(today.slice(0, 7));
  const [kind, setKind] = useState<(typeof kinds)[number]>('month');
  const [month, setMonth] = useState(months[1]!);
  const [day, setDay] = useState(addDays(today, -1));
  const [days, setDays] = useState({ from: `${today.slice(0, 7)}-01`, to: today });
  // Of this month, today is the last day so far.
  const [lastDay = today] = [lastDayOf(month), today].sort();
  const chosen = {
    month: { from: `${month}-01`, to: lastDay },
    day: { from: day, to: day },
    days,
  }[kind];
  const monthName = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const names = Object.fromEntries(months.map(one => [one, monthName.format(new Date(`${one}-01`))]));
  return (
    <>
      <p className="dim">{t.reportLead(zone)}</p>
      <div className="filters">
        <Choice
          label={t.period}
          value={kind}
          options={kinds.map(one => [one, t.kinds[one]])}
          onChange={setKind}
        />
        {kind === 'month' && (
          <SelectField label={t.month} value={month} values={months} words={names} onChange={setMonth} />
        )}
        {kind === 'day' && (
          <TextField label={t.dayOfReport} type="date" max={today} value={day} onChange={setDay} />
        )}
        {kind === 'days' && (
          <>
            <TextField
              label={t.from}
              type="date"
              max={today}
              value={days.from}
              onChange={from => setDays({ ...days, from })}
            />
            <TextField
              label={t.to}
              type="date"
              max={today}
              value={days.to}
              onChange={to => setDays({ ...days, to })}
            />
          </>
        )}
      </div>
      <div className="portal-formats">
        {formats.map(format => (
          <Download
            key={format}
            size="sm"
            path={api(`/report${query({ mode, ...chosen, format, language })}`)}
            label={t.formats[format]}
            disabled={!chosen.from || !chosen.to}
          />
        ))}
      </div>
      <p className="dim">{chosen.to < today ? t.finished : t.unfinished}</p>
      <p className="dim">
        {t.oneC} <a href={`${t.documentationPath}guides/reconciling#for-your-accountant`}>{t.aboutFiles}</a>
      </p>
    </>
  );
}

function DayStatement() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const mode = useMode();
  const [day, setDay] = useState(() => dayOf(Date.now() - 86_400_000));
  const [format, setFormat] = useState('csv');
  return (
    <>
      <p className="dim">{t.lead}</p>
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
    </>
  );
}
