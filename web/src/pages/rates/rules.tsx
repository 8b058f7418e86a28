import { Alert, Button } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { RateRules, WhatIf } from '../../../../src/console/shapes.ts';
import { send } from '../../api.ts';
import { Confirm, Outdated } from '../../parts/confirm.tsx';
import { TextField } from '../../parts/fields.tsx';
import { useAttempt } from '../../parts/notify.ts';
import { Card, Failure, Rows } from '../../parts/page.tsx';
import { RateSources } from '../../parts/rate.tsx';
import { clean, editableIn, percentIn, Rate, Usdt } from '../../parts/values.tsx';
import { useLanguage, useServerText, useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

/** Sends the version of the rules it was made on: a change based on old rules is refused. */
export function ChangeRules({ rules, onClose }: { rules: RateRules; onClose: () => void }) {
  const t = useTexts(texts);
  const [seen, setSeen] = useState(rules);
  const language = useLanguage();
  const [fields, setFields] = useState(() => fieldsOf(rules, language));
  const chosen = readRules(fields);
  const isStale = seen.version !== rules.version;
  const isUnchanged =
    chosen?.spread_bps === seen.spread_bps &&
    chosen.band_percent === seen.band_percent &&
    chosen.jump_percent === seen.jump_percent;
  return (
    <Confirm
      title={t.changeTitle}
      says={t.changeSays}
      verb={t.change}
      withReason
      ready={chosen !== undefined && !isUnchanged && !isStale}
      run={reason => send('/rates/rules', { ...chosen, reason, expected_version: seen.version })}
      onClose={onClose}
    >
      <div className="fields">
        <RuleInputs fields={fields} onChange={setFields} />
      </div>
      {isStale && (
        <Outdated
          title={t.stale}
          verb={t.takePresent}
          onTake={() => {
            setSeen(rules);
            setFields(fieldsOf(rules, language));
          }}
        />
      )}
    </Confirm>
  );
}

/** The rate that other rules would give for the last quotes; changes nothing. */
export function TryRules({ rules }: { rules: RateRules }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const [fields, setFields] = useState(() => fieldsOf(rules, language));
  const [amount, setAmount] = useState('10000');
  const [answer, setAnswer] = useState<WhatIf | null>(null);
  const { pending, refusal, attempt } = useAttempt();
  const asked = readRules(fields);
  const amountRub = clean(amount);
  const isAmount = /^\d{1,9}(\.\d{1,2})?$/.test(amountRub) && Number(amountRub) > 0;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!asked || !isAmount) return;
    const body = { ...asked, amount_rub: amountRub };
    const forget = () => setAnswer(null);
    void attempt(async () => setAnswer(await send<WhatIf>('/rates/what-if', body)), forget);
  };

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
  const language = useLanguage();
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
            <p key={`${alarm.title.en} ${alarm.detail}`}>
              {alarm.title[language]}: {serverText(alarm.detail)}
            </p>
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

export function Percents({ value }: { value: number }) {
  const language = useLanguage();
  return <span className="number">{percentIn(language, value)}</span>;
}

export const ruleNames = ['spread', 'band', 'jump'] as const;

export const percentsOf = (rules: RateRules) => ({
  spread: rules.spread_bps / 100,
  band: rules.band_percent,
  jump: rules.jump_percent,
});

/** As typed: percent with up to two decimal places. */
type RuleFields = Record<(typeof ruleNames)[number], string>;

function fieldsOf(rules: RateRules, language: string): RuleFields {
  const percents = Object.entries(percentsOf(rules));
  return Object.fromEntries(
    percents.map(([name, value]) => [name, editableIn(language, `${value}`)]),
  ) as RuleFields;
}

const most = 50;

const percentOf = (name: keyof RuleFields, text: string): number | undefined => {
  const percent = Number(clean(text));
  if (!/^\d{1,3}(\.\d{1,2})?$/.test(clean(text))) return undefined;
  return percent <= most && (percent > 0 || name === 'spread') ? percent : undefined;
};

/** Undefined while something is not a number. */
function readRules(fields: RuleFields) {
  const spread = percentOf('spread', fields.spread);
  const band = percentOf('band', fields.band);
  const jump = percentOf('jump', fields.jump);
  if (spread === undefined || band === undefined || jump === undefined) return undefined;
  return { spread_bps: Math.round(spread * 100), band_percent: band, jump_percent: jump };
}

interface InputsProps {
  fields: RuleFields;
  onChange: (fields: RuleFields) => void;
}

function RuleInputs({ fields, onChange }: InputsProps) {
  const t = useTexts(texts);
  return ruleNames.map(name => (
    <TextField
      key={name}
      label={t[name]}
      description={t[`${name}Hint`]}
      inputMode="decimal"
      rightSection="%"
      required
      withAsterisk={false}
      value={fields[name]}
      error={percentOf(name, fields[name]) === undefined && t.notPercents(most)}
      onChange={text => onChange({ ...fields, [name]: text })}
    />
  ));
}
