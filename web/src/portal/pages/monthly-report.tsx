import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { MonthlyReport } from '../../../../src/portal/shapes.ts';
import { send } from '../../api.ts';
import { TextField } from '../../parts/fields.tsx';
import { useNotify, useRun } from '../../parts/notify.ts';
import { Card, Failure, useOnce, Waiting } from '../../parts/page.tsx';
import { usePartner } from '../partner.ts';
import { Action } from '../parts.tsx';
import { inBoth, useLanguage, useTexts } from '../texts/index.ts';

const texts = inBoth({
  title: ['Monthly report', 'Отчёт за месяц'],
  hint: [
    'On the first day of each month, the bot sends owners and accountants the report of the finished month as an Excel file.',
    'Первого числа каждого месяца бот присылает владельцам и бухгалтерам отчёт за прошедший месяц — файл Excel.',
  ],
  isOn: ['Send the report', 'Присылать отчёт'],
  mailHint: [
    'The report also goes to these e-mail addresses. A new address gets a code: enter it here to confirm the address.',
    'Отчёт приходит и на эти адреса электронной почты. На новый адрес мы отправим код: введите его здесь, чтобы подтвердить адрес.',
  ],
  address: ['E-mail address', 'Адрес электронной почты'],
  add: ['Add', 'Добавить'],
  remove: ['Remove', 'Удалить'],
  code: ['Code from the mail', 'Код из письма'],
  confirm: ['Confirm', 'Подтвердить'],
  sent: ['Code sent', 'Код отправлен'],
  confirmed: ['Address confirmed', 'Адрес подтверждён'],
  removed: ['Address removed', 'Адрес удалён'],
});

/** For owners. */
export function MonthlyReportCard() {
  const t = useTexts(texts);
  const notify = useNotify();
  const queries = useQueryClient();
  const { api } = usePartner();
  const path = api('/monthly-report');
  const { data, error } = useOnce<MonthlyReport>(path);
  const reload = () => queries.invalidateQueries({ queryKey: [path] });
  const change = (isOn: boolean) => void send(path, { is_on: isOn }).catch(notify.failed).then(reload);
  return (
    <Card title={t.title}>
      <p className="dim">{t.hint}</p>
      {error && <Failure error={error} />}
      {!error && !data && <Waiting rows={1} />}
      {data && (
        <div className="portal-notices">
          <label>
            <input
              type="checkbox"
              checked={data.is_on}
              onChange={event => change(event.currentTarget.checked)}
            />
            {t.isOn}
          </label>
        </div>
      )}
      {data?.is_on && data.addresses && (
        <>
          <p className="dim">{t.mailHint}</p>
          {data.addresses.map(one => (
            <Address key={one.address} {...one} path={path} reload={reload} />
          ))}
          <NewAddress path={path} reload={reload} />
        </>
      )}
    </Card>
  );
}

interface Place {
  path: string;
  reload(): Promise<void>;
}

function Address(props: Place & { address: string; is_confirmed: boolean }) {
  const { path, reload, address, is_confirmed: isConfirmed } = props;
  const t = useTexts(texts);
  const { pending, run } = useRun();
  const [code, setCode] = useState('');
  const act = (what: string, body: object) =>
    send(`${path}/addresses/${what}`, { address, ...body }).then(reload);
  return (
    <div className="filters">
      <span className="wrap-anywhere">{address}</span>
      {!isConfirmed && (
        <>
          <TextField label={t.code} value={code} onChange={setCode} />
          <Action
            needs="own"
            size="sm"
            loading={pending}
            disabled={code === ''}
            onClick={() => run(() => act('confirm', { code }), t.confirmed)}
          >
            {t.confirm}
          </Action>
        </>
      )}
      <Action needs="own" size="sm" loading={pending} onClick={() => run(() => act('remove', {}), t.removed)}>
        {t.remove}
      </Action>
    </div>
  );
}

function NewAddress({ path, reload }: Place) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { pending, run } = useRun();
  const [address, setAddress] = useState('');
  async function add() {
    await send(`${path}/addresses`, { address, language });
    setAddress('');
    await reload();
  }
  return (
    <div className="filters">
      <TextField label={t.address} value={address} onChange={setAddress} />
      <Action
        needs="own"
        size="sm"
        loading={pending}
        disabled={address === ''}
        onClick={() => run(add, t.sent)}
      >
        {t.add}
      </Action>
    </div>
  );
}
