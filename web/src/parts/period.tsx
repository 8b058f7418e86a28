import { useCommon } from '../texts/common.ts';
import { SelectField, TimeInput } from './fields.tsx';
import { addDays, dayIn, instantIn, zoneName } from './zone.ts';
import { useZone } from './zone-context.ts';

/** Times without a zone, as in a form: they are in that of the page. */
export interface Period {
  period: string;
  created_after: string;
  created_before: string;
}

const presets = ['today', 'yesterday', 'week', 'month'] as const;

/** The start and the end of a period, for the server; the end is not included. */
export function timesOf(
  { period, created_after, created_before }: Period,
  zone: string,
): { from: string; until: string } {
  const today = dayIn(zone);
  const at = (days: number) => instantIn(zone, `${addDays(today, days)}T00:00`);
  switch (period) {
    case 'today':
      return { from: at(0), until: '' };
    case 'yesterday':
      return { from: at(-1), until: at(0) };
    case 'week':
      return { from: at(-6), until: '' };
    case 'month':
      return { from: at(-29), until: '' };
    default:
      return { from: instantIn(zone, created_after), until: instantIn(zone, created_before) };
  }
}

interface FieldsProps {
  value: Period;
  /** Another period was chosen. */
  onChoose: (change: Period) => void;
  /** The times of a custom period were changed. */
  onTimes: (change: Partial<Period>) => void;
}

/** A period by its name, or with its own start and end. */
export function PeriodFields({ value, onChoose, onTimes }: FieldsProps) {
  const t = useCommon().periods;
  const zone = zoneName(useZone());
  const { created_after, created_before } = value;
  const period = value.period || (created_after || created_before ? 'custom' : '');
  return (
    <>
      <SelectField
        label={`${t.period}, ${zone}`}
        value={period}
        any={t.any}
        words={t}
        values={[...presets, 'custom']}
        onChange={chosen => onChoose({ period: chosen, created_after: '', created_before: '' })}
      />
      {period === 'custom' && (
        <>
          <TimeInput
            label={`${t.from}, ${zone}`}
            value={created_after}
            onChange={created_after => onTimes({ created_after })}
          />
          <TimeInput
            label={`${t.until}, ${zone}`}
            value={created_before}
            onChange={created_before => onTimes({ created_before })}
          />
        </>
      )}
    </>
  );
}
