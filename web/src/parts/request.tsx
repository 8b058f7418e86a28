import { Button, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { RequestRow } from '../../../src/console/shapes.ts';
import { send } from '../api.ts';
import { useServerText, useTexts, wordIn } from '../texts/index.ts';
import { State } from './badge.tsx';
import { BalanceChange } from './balance-change.tsx';
import { Confirm } from './confirm.tsx';
import { type Fact, Facts } from './page.tsx';
import { texts } from './request.texts.ts';
import { Ago, actorName, IdLink, Rub, Time, Usdt } from './values.tsx';

type Words = (typeof texts)['en'];
type Decision = 'approve' | 'refuse' | 'withdraw';

interface CardProps {
  request: RequestRow;
  withSubject?: boolean;
}

/** A request for four-eyes approval. */
export function RequestCard({ request, withSubject = false }: CardProps) {
  const t = useTexts(texts);
  const serverText = useServerText();
  // Only a change of the thresholds has a reason that the server gives.
  const reason = request.kind === 'thresholds' ? serverText(request.reason) : request.reason;
  return (
    <section className={request.state === 'waiting' ? 'card card-waiting' : 'card'}>
      <div className="between card-head">
        <div className="inline">
          <h2>{t.kinds[request.kind]}</h2>
          <State state={request.state} words={t.states} />
          {withSubject && <Subject request={request} />}
        </div>
        {request.state === 'waiting' && <Decide request={request} />}
      </div>
      <Facts
        facts={[
          amountOf(t, request),
          ...changeOf(t, request),
          [
            t.requestedBy,
            <span key="by">
              {actorName(request.asked_by)} · <Ago at={request.asked_at} />
            </span>,
          ],
          request.decided_by && [
            t.decidedBy,
            <span key="by">
              {actorName(request.decided_by)} · <Time at={request.decided_at} as="short" />
            </span>,
          ],
        ]}
      />
      {reason && <p className="quote">{reason}</p>}
    </section>
  );
}

function amountOf(t: Words, { amount_rub, amount_usdt, kind }: RequestRow): Fact {
  if (amount_rub) return [t.amount, <Rub key="rub" amount={amount_rub} />];
  return amount_usdt && kind !== 'credit' && [t.amount, <Usdt key="usdt" amount={amount_usdt} />];
}

const changeOf = (t: Words, { change, reason }: RequestRow): Fact[] =>
  Object.entries(change)
    .filter(([, value]) => value !== reason)
    .map(([name, value]) => [wordIn(t.names, name), wordOf(t, name, value)]);

function wordOf(t: Words, name: string, value: string): React.ReactNode {
  if (name === 'reference' || name === 'sender') return <span className="wrap-anywhere">{value}</span>;
  if (name.endsWith('usdt')) return <Usdt amount={value} bare />;
  return name.endsWith('_rub') ? <Rub amount={value} bare /> : wordIn(t.words, value);
}

function Subject({ request: { kind, subject } }: { request: RequestRow }) {
  if (kind === 'resolve' || kind === 'credit') return <IdLink id={subject} text={subject} />;
  if (kind === 'deposit') return <Link href={`/deposits?q=${subject}`}>{subject}</Link>;
  if (kind === 'release') return <code className="wrap-anywhere">{subject}</code>;
  return null;
}

/** What the request would change, so that it need not be remembered from the page behind the dialog. */
function Effects({ request }: { request: RequestRow }) {
  const t = useTexts(texts);
  const { balance, amount_rub, amount_usdt, change, kind } = request;
  if (!balance || !amount_usdt) return <Facts facts={[amountOf(t, request), ...changeOf(t, request)]} />;
  const isCredit = kind === 'credit' || kind === 'deposit';
  const effect = isCredit ? 'credit' : change.outcome === 'succeeded' ? 'debit' : 'return';
  return <BalanceChange balance={balance} effect={effect} rub={amount_rub} usdt={amount_usdt} />;
}

function Decide({ request }: { request: RequestRow }) {
  const t = useTexts(texts);
  const [deciding, setDeciding] = useState<Decision | null>(null);
  const why = request.may_decide ? undefined : request.is_own ? t.own : t.mayNot;
  const says = { approve: t.approveSays, refuse: t.refuseSays, withdraw: t.withdrawSays };
  const refused = {
    'data-disabled': true,
    'aria-disabled': true,
    'aria-description': why,
    onClick: undefined,
  };
  return (
    <div className="actions">
      <Tooltip label={why} disabled={!why} multiline maw={320}>
        <Button size="xs" onClick={() => setDeciding('approve')} {...(why ? refused : {})}>
          {t.approve}
        </Button>
      </Tooltip>
      {!why && (
        <Button size="xs" variant="default" onClick={() => setDeciding('refuse')}>
          {t.refuse}
        </Button>
      )}
      {request.is_own && (
        <Button size="xs" variant="default" onClick={() => setDeciding('withdraw')}>
          {t.withdraw}
        </Button>
      )}
      {deciding && (
        <Confirm
          title={`${t[deciding]}: ${t.kinds[request.kind].toLowerCase()}`}
          says={
            <>
              <Effects request={request} />
              <p>{says[deciding]}</p>
            </>
          }
          verb={t[deciding]}
          run={() => send(`/requests/${request.request_id}/${deciding}`)}
          onClose={() => setDeciding(null)}
        />
      )}
    </div>
  );
}
