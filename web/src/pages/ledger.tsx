import { Alert, Loader } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link, Route, Switch } from 'wouter';
import type { AccountRow, TrialBalance, Verification } from '../../../src/console/shapes.ts';
import { send } from '../api.ts';
import { Action } from '../parts/action.tsx';
import { Badge, TestMark } from '../parts/badge.tsx';
import { useAttempt } from '../parts/notify.ts';
import { Card, Empty, Failure, KeysetTable, Loaded, PageFrame, Rows, useLive } from '../parts/page.tsx';
import { Count, Duration, ShortId, Time, Usdt } from '../parts/values.tsx';
import { useServerText, useTexts, wordIn } from '../texts/index.ts';
import { Entries } from './ledger/entries.tsx';
import { texts } from './ledger/texts.ts';

export default function Ledger() {
  return (
    <Switch>
      <Route path="/ledger/:id/:mode">
        {({ id, mode }) => <Entries partnerId={id} mode={mode === 'test' ? 'test' : 'live'} />}
      </Route>
      <Route component={LedgerOverview} />
    </Switch>
  );
}

const amounts = ['available', 'held', 'settled', 'topup', 'treasury'] as const;
const isSource = (name: string) => name === 'topup' || name === 'treasury';

export function LedgerOverview() {
  const t = useTexts(texts);
  return (
    <PageFrame title={t.nav.ledger} lead={t.lead}>
      <div className="stack">
        <div className="grid grid-wide">
          <Trial />
          <Verify />
        </div>
        <section>
          <h2 className="section-title">{t.accounts}</h2>
          <KeysetTable<AccountRow>
            label={t.accounts}
            path="/ledger/accounts"
            everyMs={10_000}
            keyOf={row => row.partner_id + row.mode}
            hrefOf={row => `/ledger/${row.partner_id}/${row.mode}`}
            empty={<Empty title={t.noAccounts}>{t.noAccountsHint}</Empty>}
            columns={[
              {
                head: t.partner,
                cell: row => (
                  <>
                    {row.partner} <TestMark mode={row.mode} />
                  </>
                ),
              },
              ...amounts.map(name => ({
                head: t.names[name],
                right: true,
                wideOnly: isSource(name),
                cell: (row: AccountRow) => <Usdt bare amount={row[`${name}_usdt`]} />,
              })),
              { head: t.entries, right: true, cell: row => <Count value={row.entries} /> },
            ]}
          />
        </section>
      </div>
    </PageFrame>
  );
}

const isNothing = (amount: string) => /^-?[0.]+$/.test(amount);

function Trial() {
  const t = useTexts(texts);
  const read = useLive<TrialBalance>('/ledger/trial-balance', 10_000);
  const trial = read.data;
  const adds = trial && isNothing(trial.total.live_usdt) && isNothing(trial.total.test_usdt);
  return (
    <Card
      title={t.trial}
      side={trial && <Badge tone={adds ? 'good' : 'bad'}>{adds ? t.addsUp : t.doesNotAddUp}</Badge>}
    >
      <Loaded of={read} />
      {trial && (
        <>
          <Rows
            label={t.trial}
            rows={[...trial.rows, { account: 'total', ...trial.total }]}
            keyOf={row => row.account}
            columns={[
              {
                head: t.account,
                cell: row => (
                  <span title={wordIn(t.meanings, row.account)}>{wordIn(t.names, row.account)}</span>
                ),
              },
              { head: t.liveUsdt, right: true, cell: row => <Usdt bare amount={row.live_usdt} /> },
              { head: t.testUsdt, right: true, cell: row => <Usdt bare amount={row.test_usdt} /> },
            ]}
          />
          <p className="dim card-foot">{t.trialSays}</p>
        </>
      )}
    </Card>
  );
}

/** Verifies the whole ledger. It may take a while, so the elapsed time is shown. */
export function Verify() {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [result, setResult] = useState<{ at: string; found: Verification } | null>(null);
  const { pending, refusal, attempt } = useAttempt();
  const verify = () =>
    attempt(async () => {
      const found = await send<Verification>('/ledger/verify');
      setResult({ at: new Date().toISOString(), found });
    }).then(() => queries.invalidateQueries({ queryKey: ['/ledger/trial-balance'] }));
  return (
    <Card
      title={t.verify}
      side={
        <Action needs="ledger.verify" loading={pending} onClick={() => void verify()}>
          {t.verifyNow}
        </Action>
      }
    >
      <div aria-live="polite">
        {pending && <Running />}
        {refusal !== null && <Failure error={refusal} />}
        {!pending && refusal === null && !result && <p className="dim">{t.verifySays}</p>}
        {result && !pending && <Found {...result} />}
      </div>
    </Card>
  );
}

/** How long it has been shown. */
function Running() {
  const t = useTexts(texts);
  const [sinceMs] = useState(Date.now);
  const [nowMs, setNowMs] = useState(sinceMs);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="inline">
      <Loader size="xs" /> {t.verifying}{' '}
      <span className="dim" aria-hidden="true">
        <Duration ms={Math.max(1000, nowMs - sinceMs)} />
      </span>
    </p>
  );
}

function Found({ at, found }: { at: string; found: Verification }) {
  const t = useTexts(texts);
  const serverText = useServerText();
  return (
    <>
      <Alert color={found.ok ? 'green' : 'red'} mb="md" title={found.ok ? t.inOrder : t.notInOrder}>
        <Count value={found.entries} /> {t.entriesRead} · <Duration ms={found.duration_ms} /> ·{' '}
        <Time at={at} as="clock" /> UTC
      </Alert>
      <ul className="checks">
        {found.invariants.map(invariant => {
          const findings = found.findings.filter(one => one.invariant === invariant);
          return (
            <li key={invariant}>
              <Badge tone={findings.length ? 'bad' : 'good'}>
                {findings.length ? t.broken(findings.length) : t.holds}
              </Badge>
              <div>
                {wordIn(t.invariants, invariant)}
                {findings.map(one => (
                  <p key={`${one.partner_id} ${one.mode} ${one.detail}`} className="wrap-anywhere">
                    <Link href={`/ledger/${one.partner_id}/${one.mode}`}>
                      <ShortId id={one.partner_id} /> {wordIn(t.modes, one.mode)}
                    </Link>
                    : {serverText(one.detail)}
                  </p>
                ))}
              </div>
            </li>
          );
        })}
      </ul>
    </>
  );
}
