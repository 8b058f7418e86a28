import { Alert, Loader } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Verification } from '../../../../src/console/shapes/ledger.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Card, Failure } from '../../parts/page.tsx';
import { Count, Duration, ShortId, Time } from '../../parts/values.tsx';
import { useServerText, useTexts, wordIn } from '../../texts/index.ts';
import { texts } from './texts.ts';

/** Verifies the whole ledger. It may take a while, so the elapsed time is shown. */
export function Verify() {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [startedMs, setStartedMs] = useState<number | null>(null);
  const [result, setResult] = useState<{ at: string; found: Verification } | null>(null);
  const [refusal, setRefusal] = useState<unknown>(null);
  async function verify() {
    setStartedMs(Date.now());
    setRefusal(null);
    try {
      const found = await send<Verification>('/ledger/verify');
      setResult({ at: new Date().toISOString(), found });
    } catch (error) {
      setRefusal(error);
    } finally {
      setStartedMs(null);
      void queries.invalidateQueries({ queryKey: ['trial-balance'] });
    }
  }
  return (
    <Card
      title={t.verify}
      side={
        <Action needs="ledger.verify" loading={startedMs !== null} onClick={() => void verify()}>
          {t.verifyNow}
        </Action>
      }
    >
      <div aria-live="polite">
        {startedMs !== null && <Running sinceMs={startedMs} />}
        {refusal !== null && <Failure error={refusal} />}
        {startedMs === null && refusal === null && !result && <p className="dim">{t.verifySays}</p>}
        {result && startedMs === null && <Found {...result} />}
      </div>
    </Card>
  );
}

function Running({ sinceMs }: { sinceMs: number }) {
  const t = useTexts(texts);
  const [nowMs, setNowMs] = useState(Date.now);
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
