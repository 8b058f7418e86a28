import { formatKopecks, formatMicroUsdt, formatRate } from '../../base/money.ts';

/** Amounts and times as the readers of a language write them. */
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
  /** Of a decimal number as text: a number would lose digits. */
  const amount = (text: string) => {
    const digits = text.split('.')[1]?.length ?? 0;
    const format = new Intl.NumberFormat(locale, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    return format.format(text as Intl.StringNumericLiteral);
  };
  return {
    amount,
    rub: (kopecks: bigint) => amount(formatKopecks(kopecks)),
    usdt: (microUsdt: bigint) => amount(formatMicroUsdt(microUsdt)),
    rate: (rateE4: bigint) => amount(formatRate(rateE4)),
    /** To the minute and in one time zone, since partners are in many. */
    time: (at: Date) => `${time.format(at)} UTC`,
  };
}
