import { useLanguage } from '../texts/language.ts';

/** Amounts stay text from the database to the screen: a number would lose digits. */
export function amountIn(language: string, amount: string): string {
  const digits = amount.split('.')[1]?.length ?? 0;
  const formatter = new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return formatter.format(amount as Intl.StringNumericLiteral);
}

/** An amount to be edited: with the decimal separator of the language, without groups. */
export const editableIn = (language: string, amount: string): string =>
  language === 'ru' ? amount.replace('.', ',') : amount;

export const numberIn = (language: string, value: number, digits = 0): string =>
  new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);

export const percentIn = (language: string, percent: number): string =>
  new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 }).format(percent / 100);

interface MoneyProps {
  amount: string | null | undefined;
  /** Without the unit, where the column header has it. */
  bare?: boolean;
}

export function Rub({ amount, bare = false }: MoneyProps) {
  const language = useLanguage();
  if (amount === null || amount === undefined) return <span className="dim">—</span>;
  return (
    <span className="number">
      {amountIn(language, amount)}
      {!bare && <span className="unit"> ₽</span>}
    </span>
  );
}

/** `cents` shows two decimal places; the title has all of them. */
export function Usdt({ amount, bare = false, cents = false }: MoneyProps & { cents?: boolean }) {
  const language = useLanguage();
  if (amount === null || amount === undefined) return <span className="dim">—</span>;
  const shown = cents ? amount.replace(/(\.\d\d)\d+$/, '$1') : amount;
  return (
    <span className="number" title={cents ? amount : undefined}>
      {amountIn(language, shown)}
      {!bare && <span className="unit"> USDT</span>}
    </span>
  );
}

/** Rubles for one USDT. */
export function Rate({ rate }: { rate: string | null | undefined }) {
  const language = useLanguage();
  return <span className="number">{rate ? amountIn(language, rate) : '—'}</span>;
}

export function Count({ value, digits = 0 }: { value: number | null; digits?: number }) {
  const language = useLanguage();
  return <span className="number">{value === null ? '—' : numberIn(language, value, digits)}</span>;
}

export function Percent({ share }: { share: number | null }) {
  const language = useLanguage();
  if (share === null) return <span className="number">—</span>;
  const formatter = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
  // 99.96 % must not be shown as 100 %.
  return <span className="number">{formatter.format(share < 1 ? Math.min(share, 0.999) : share)}</span>;
}
