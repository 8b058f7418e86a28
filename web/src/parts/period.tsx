import { useCommon } from '../texts/common.ts';
import { SelectField, UtcTimeInput } from './fields.tsx';

/** Times without a zone, as in a form: they are UTC. */
export interface Period {
  period: string;
  created_after: string;
  created_before: string;
}

const presets = ['today', 'yesterday', 'week', 'month'] as const;
const dayMs = 86_400_000;

/** The start and the end of a period, for the server; the end is not included. */
export function timesOf({ period, created_after, created_before }: Period): { from: string; until: string } {
  const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
  const at = (days: number) => new Date(todayMs + days * dayMs).toISOString();
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
      return { from: instantOf(created_after), until: instantOf(created_before) };
  }
}

/** A time of a form, which has no zone and is UTC. */
export const instantOf = (text: string) => (text ? `${text.length === 16 ? `${text}:00` : text}Z` : '');

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
  const { created_after, created_before } = value;
  const period = value.period || (created_after || created_before ? 'custom' : '');
  return (
    <>
      <SelectField
        label={t.period}
        value={period}
        any={t.any}
        words={t}
        values={[...presets, 'custom']}
        onChange={chosen => onChoose({ period: chosen, created_after: '', created_before: '' })}
      />
      {period === 'custom' && (
        <>
          <UtcTimeInput
            label={t.from}
            value={created_after}
            onChange={created_after => onTimes({ created_after })}
          />
          <UtcTimeInput
            label={t.until}
            value={created_before}
            onChange={created_before => onTimes({ created_before })}
          />
        </>
      )}
    </>
  );
}
