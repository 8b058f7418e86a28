import type { RateRules } from '../../../../src/console/shapes/rates.ts';
import { TextField } from '../../parts/fields.tsx';
import { editableIn, percentIn } from '../../parts/values.tsx';
import { useLanguage, useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

/** Basis points as percent. */
export const Spread = ({ bps }: { bps: number }) => <Percents value={bps / 100} />;

export function Percents({ value }: { value: number }) {
  const language = useLanguage();
  return <span className="number">{percentIn(language, value)}</span>;
}

/** As typed: percent with up to two decimal places. */
export interface RuleFields {
  spread: string;
  band: string;
  jump: string;
}

export const fieldsOf = (rules: RateRules, language: string): RuleFields => ({
  spread: editableIn(language, `${rules.spread_bps / 100}`),
  band: editableIn(language, `${rules.band_percent}`),
  jump: editableIn(language, `${rules.jump_percent}`),
});

const most = 50;

const percentOf = (name: keyof RuleFields, text: string): number | undefined => {
  const clean = text.trim().replace(',', '.');
  if (!/^\d{1,3}(\.\d{1,2})?$/.test(clean)) return undefined;
  return Number(clean) <= most && (Number(clean) > 0 || name === 'spread') ? Number(clean) : undefined;
};

/** Undefined while something is not a number. */
export function readRules(fields: RuleFields) {
  const spread = percentOf('spread', fields.spread);
  const band = percentOf('band', fields.band);
  const jump = percentOf('jump', fields.jump);
  if (spread === undefined || band === undefined || jump === undefined) return undefined;
  return { spread_bps: Math.round(spread * 100), band_percent: band, jump_percent: jump };
}

export function RuleInputs({
  fields,
  onChange,
}: {
  fields: RuleFields;
  onChange: (fields: RuleFields) => void;
}) {
  const t = useTexts(texts);
  const names = ['spread', 'band', 'jump'] as const;
  return names.map(name => (
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
