import { useState } from 'react';
import type { Limits } from '../../../../src/web/shapes.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Confirm, Outdated } from '../../parts/confirm.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { Count, clean, editableIn, Rub } from '../../parts/values.tsx';
import { useLanguage, useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

const inRub = ['min_rub', 'max_rub', 'daily_rub'] as const;
const inNumbers = ['concurrent', 'create_rps', 'create_burst', 'other_rps'] as const;
const names = [...inRub, ...inNumbers];
type Name = (typeof names)[number];
type Counts = Record<(typeof inNumbers)[number], number>;

export function LimitsCard({ partnerId, limits }: { partnerId: string; limits: Limits }) {
  const t = useTexts(texts);
  const [changing, setChanging] = useState(false);
  return (
    <Card
      title={t.limits}
      side={
        <Action needs="partners.limits" onClick={() => setChanging(true)}>
          {t.change}
        </Action>
      }
    >
      <Facts
        facts={names.map(name => [t.limitNames[name], <Value key={name} limits={limits} name={name} />])}
      />
      {changing && <Change partnerId={partnerId} limits={limits} onClose={() => setChanging(false)} />}
    </Card>
  );
}

function Value({ limits, name }: { limits: Limits; name: Name }) {
  const t = useTexts(texts);
  const value = limits[name];
  if (value === null) return <span>{t.unlimited}</span>;
  return typeof value === 'string' ? <Rub bare amount={value} /> : <Count value={value} />;
}

type Fields = Record<Name, string>;
const fieldsOf = (limits: Limits, language: string) =>
  Object.fromEntries(names.map(name => [name, editableIn(language, `${limits[name] ?? ''}`)])) as Fields;

function wrongIn(fields: Fields): Name | undefined {
  return (
    inRub.find(
      name =>
        !(name === 'daily_rub' && fields[name].trim() === '') &&
        !/^\d{1,9}(\.\d{1,2})?$/.test(clean(fields[name])),
    ) ?? inNumbers.find(name => !/^[1-9]\d{0,5}$/.test(clean(fields[name])))
  );
}

const toLimits = (fields: Fields): Limits => ({
  min_rub: clean(fields.min_rub),
  max_rub: clean(fields.max_rub),
  daily_rub: clean(fields.daily_rub) || null,
  ...(Object.fromEntries(inNumbers.map(name => [name, Number(clean(fields[name]))])) as Counts),
});

const isSame = (one: Limits, other: Limits) => names.every(name => one[name] === other[name]);

/** Sends the limits it was made on: a change based on old limits is refused. */
function Change({ partnerId, limits, onClose }: { partnerId: string; limits: Limits; onClose: () => void }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const [seen, setSeen] = useState(limits);
  const [fields, setFields] = useState(() => fieldsOf(limits, language));
  const wrong = wrongIn(fields);
  const crossed = !wrong && Number(clean(fields.min_rub)) > Number(clean(fields.max_rub));
  const isStale = !isSame(seen, limits);
  const isUnchanged = names.every(name => fields[name] === fieldsOf(seen, language)[name]);
  return (
    <Confirm
      title={t.changeLimits}
      says={t.limitsSay}
      verb={t.change}
      ready={!wrong && !crossed && !isStale && !isUnchanged}
      run={() => send(`/partners/${partnerId}/limits`, { limits: toLimits(fields), expected: seen })}
      onClose={onClose}
    >
      <div className="fields">
        {names.map((name, index) => (
          <TextField
            key={name}
            label={t.limitNames[name]}
            inputMode={inRub.includes(name as 'min_rub') ? 'decimal' : 'numeric'}
            required={name !== 'daily_rub'}
            withAsterisk={false}
            placeholder={name === 'daily_rub' ? t.unlimited : undefined}
            value={fields[name]}
            error={(name === wrong && t.notANumber) || (name === 'max_rub' && crossed && t.minAboveMax)}
            onChange={text => setFields({ ...fields, [name]: text })}
            {...(index === 0 ? { 'data-autofocus': true } : {})}
          />
        ))}
      </div>
      {isStale && (
        <Outdated
          title={t.limitsStale}
          verb={t.takePresent}
          onTake={() => {
            setSeen(limits);
            setFields(fieldsOf(limits, language));
          }}
        >
          <ul>
            {names
              .filter(name => seen[name] !== limits[name])
              .map(name => (
                <li key={name}>
                  {t.limitNames[name]}: <Value limits={seen} name={name} /> →{' '}
                  <Value limits={limits} name={name} />
                </li>
              ))}
          </ul>
        </Outdated>
      )}
    </Confirm>
  );
}
