import { Alert, Button } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { RateRules, WhatIf } from '../../../../src/console/shapes/rates.ts';
import { send } from '../../api.ts';
import { TextField } from '../../parts/fields.tsx';
import { Card, Failure, Rows } from '../../parts/page.tsx';
import { RateSources } from '../../parts/rate.tsx';
import { Rate, Usdt } from '../../parts/values.tsx';
import { useLanguage, useServerText, useTexts, wordIn } from '../../texts/index.ts';
import { texts } from './texts.ts';
import { fieldsOf, RuleInputs, readRules } from './values.tsx';

/** The rate that other rules would give for the last quotes; changes nothing. */
export function TryRules({ rules }: { rules: RateRules }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const [fields, setFields] = useState(() => fieldsOf(rules, language));
  const [amount, setAmount] = useState('10000');
  const [answer, setAnswer] = useState<WhatIf | null>(null);
  const [refusal, setRefusal] = useState<unknown>(null);
  const [pending, setPending] = useState(false);
  const asked = readRules(fields);
  const amountRub = amount.replaceAll(/[\s\u00a0]/g, '').replace(',', '.');
  const isAmount = /^\d{1,9}(\.\d{1,2})?$/.test(amountRub) && Number(amountRub) > 0;

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!asked || !isAmount) return;
    setPending(true);
    setRefusal(null);
    try {
      setAnswer(await send<WhatIf>('/rates/what-if', { ...asked, amount_rub: amountRub }));
    } catch (error) {
      setAnswer(null);
      setRefusal(error);
    } finally {
      setPending(false);
    }
  }

  return (
    <Card title={t.whatIf}>
      <p className="dim card-lead">{t.whatIfSays}</p>
      <div className="grid">
        <form onSubmit={submit}>
          <div className="fields">
            <RuleInputs fields={fields} onChange={setFields} />
            <TextField
              label={t.amountRub}
              description={t.amountHint}
              inputMode="decimal"
              rightSection="₽"
              value={amount}
              error={!isAmount && t.notAnAmount}
              onChange={setAmount}
            />
          </div>
          <Button
            type="submit"
            size="xs"
            variant="default"
            mt="md"
            loading={pending}
            disabled={!asked || !isAmount}
          >
            {t.tryIt}
          </Button>
        </form>
        <div aria-live="polite">
          {refusal !== null && <Failure error={refusal} />}
          {answer ? <Compared answer={answer} /> : refusal === null && <p className="dim">{t.notYet}</p>}
        </div>
      </div>
    </Card>
  );
}

function Compared({ answer }: { answer: WhatIf }) {
  const t = useTexts(texts);
  const serverText = useServerText();
  return (
    <>
      {answer.rate === null && (
        <Alert color="red" mb="sm">
          {t.noRateWith}
        </Alert>
      )}
      {answer.alarms.length > 0 && (
        <Alert color="yellow" mb="sm" title={t.alarms}>
          {answer.alarms.map(alarm => (
            <p key={alarm}>{alarmIn(t.alarmKinds, serverText, alarm)}</p>
          ))}
        </Alert>
      )}
      <Rows
        label={t.whatIf}
        rows={[
          { name: t.rate, now: <Rate rate={answer.rate_now} />, tried: <Rate rate={answer.rate} /> },
          {
            name: t.costs,
            now: <Usdt amount={answer.amount_usdt_now} />,
            tried: <Usdt amount={answer.amount_usdt} />,
          },
        ]}
        keyOf={row => row.name}
        columns={[
          { head: t.what, cell: row => row.name },
          { head: t.present, right: true, cell: row => row.now },
          { head: t.tried, right: true, cell: row => <strong>{row.tried}</strong> },
        ]}
      />
      <RateSources sources={answer.sources} />
    </>
  );
}

/** `kind: detail`; an unknown kind is shown as it is. */
function alarmIn(words: Record<string, string>, serverText: (text: string) => string, alarm: string): string {
  const [kind = '', ...detail] = alarm.split(': ');
  if (detail.length === 0) return serverText(alarm);
  return `${wordIn(words, kind)}: ${serverText(detail.join(': '))}`;
}
