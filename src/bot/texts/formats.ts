import { formatKopecks, formatMicroUsdt, formatRate } from '../../base/money.ts';
import { escapeHtml } from '../conversation/screen.ts';
import type { NoticeDetails } from '../notices/outbox.ts';

type Detail = NoticeDetails[string] | undefined;
const text = (value: Detail) => escapeHtml(`${value ?? ''}`);
/** What the partner calls a payment. */
export const named = ({ external_id }: NoticeDetails) => (external_id ? ` (${text(external_id)})` : '');

/** Amounts, times and details of notices as the readers of a language write them. */
export function formatsOf(locale: 'en-GB' | 'ru') {
  const time = new Intl.DateTimeFormat(locale, {
    day: '2-digit',
    month: locale === 'ru' ? '2-digit' : 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
  });
  /** Formats a decimal number given as text: a number would lose digits. */
  const amount = (text: string) => {
    const digits = text.split('.')[1]?.length ?? 0;
    const format = new Intl.NumberFormat(locale, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    return format.format(text as Intl.StringNumericLiteral);
  };
  const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const timeOf = (at: Date) => `${time.format(at)} UTC`;
  return {
    amount,
    rub: (kopecks: bigint) => amount(formatKopecks(kopecks)),
    usdt: (microUsdt: bigint) => amount(formatMicroUsdt(microUsdt)),
    rate: (rateE4: bigint) => amount(formatRate(rateE4)),
    /** To the minute and in one time zone, since partners are in many. */
    time: timeOf,
    text,
    decimal: (value: Detail) => amount(`${value ?? ''}`),
    monthName: (value: Detail) => month.format(new Date(`${value}`)),
    moment: (value: Detail) => timeOf(new Date(`${value}`)),
  };
}
