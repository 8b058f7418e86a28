import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Quote } from '../../../../src/portal/shapes/rate.ts';
import { ask, query } from '../../api.ts';
import { TextField } from '../../parts/fields.tsx';
import { Card, Facts, Failure } from '../../parts/page.tsx';
import { durationIn, Rate, Usdt } from '../../parts/values.tsx';
import { useLanguage, useTexts } from '../../texts/language.ts';
import { usePartner } from '../partner.ts';
import { texts } from './rate.texts.ts';

/** What an amount in rubles costs now. The service computes it: a page that rounds by itself would show another sum. */
export function Calculator() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const [typed, setTyped] = useState('1500');
  const amount_rub = typed.replaceAll(/[\s\u00a0]/g, '').replace(',', '.');
  const isAmount = /^\d{1,9}(\.\d{1,2})?$/.test(amount_rub) && Number(amount_rub) > 0;
  const path = api(`/quote${query({ amount_rub })}`);
  const { data, error } = useQuery({
    queryKey: ['quote', path],
    queryFn: ({ signal }) => ask<Quote>(path, signal),
    enabled: isAmount,
    refetchInterval: 15_000,
  });
  return (
    <Card title={t.calculator}>
      <TextField
        label={t.amount}
        inputMode="decimal"
        maxLength={14}
        value={typed}
        error={!isAmount && typed !== '' && t.notAnAmount}
        onChange={setTyped}
      />
      <div aria-live="polite" className="portal-cost">
        {error && isAmount && <Failure error={error} />}
        {data && isAmount && <Costs quote={data} />}
      </div>
    </Card>
  );
}

function Costs({ quote }: { quote: Quote }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const cost = ({ amount_usdt, rate }: { amount_usdt: string; rate: string }) => (
    <>
      <strong>
        <Usdt amount={amount_usdt} />
      </strong>
      <span className="under">
        <Rate rate={rate} /> {t.perUsdt}
      </span>
    </>
  );
  return (
    <>
      <Facts
        facts={[
          [t.atNow, cost(quote)],
          quote.locked && [
            t.locked(durationIn(language, quote.locked.lifetime_sec * 1000)),
            cost(quote.locked),
          ],
        ]}
      />
      {!quote.is_within_limits && <p className="bad-text">{t.outside}</p>}
    </>
  );
}
