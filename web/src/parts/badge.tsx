import { useCommon } from '../texts/common.ts';
import { faultTexts } from '../texts/faults.ts';
import { useTexts, wordIn } from '../texts/language.ts';
import { Name } from './values.tsx';

type Tone = 'good' | 'bad' | 'open' | 'warn' | 'plain';

const tones: Record<string, Tone> = {
  succeeded: 'good',
  failed: 'bad',
  processing: 'open',
  manual_review: 'warn',
  active: 'good',
  suspended: 'bad',
  failing: 'bad',
  pending: 'open',
  delivered: 'good',
  screening: 'open',
  accumulating: 'open',
  credited: 'good',
  held: 'warn',
  rejected: 'bad',
  approved: 'good',
  asked: 'warn',
  invited: 'open',
  disabled: 'plain',
  revoked: 'plain',
  expired: 'plain',
  waiting: 'warn',
  refused: 'bad',
  running: 'open',
  overdue: 'bad',
  stale: 'bad',
  fresh: 'good',
  ok: 'good',
  differences: 'bad',
};

// Each tone has its own symbol, so that colour is not the only difference.
const signs: Record<Tone, string> = { good: '✓', bad: '✕', open: '◔', warn: '!', plain: '–' };

export function Badge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={`badge badge-${tone}`}>
      <span aria-hidden="true" className="badge-sign">
        {signs[tone]}
      </span>
      {children}
    </span>
  );
}

/** A state by its name in the API; `words` has the names of states that one page alone shows. */
export function State({ state, words }: { state: string; words?: Record<string, string> }) {
  const t = useCommon();
  return <Badge tone={tones[state] ?? 'plain'}>{wordIn(words ?? t.states, state)}</Badge>;
}

/** Only test mode is marked; live is the default. */
export function TestMark({ mode }: { mode: 'live' | 'test' }) {
  const t = useCommon();
  return mode === 'test' ? <span className="test-mark">{t.test}</span> : null;
}

/** The partner of a row, and its mode. */
export const Owner = ({ of }: { of: { partner: string; mode: 'live' | 'test' } }) => (
  <span className="inline">
    <Name text={of.partner} />
    <TestMark mode={of.mode} />
  </span>
);

/** What an endpoint answered to an event: the HTTP status, or why there was none. */
export function Answer({ status, error }: { status: number | null; error: string | null }) {
  const faults = useTexts(faultTexts);
  const isTaken = status !== null && status >= 200 && status < 300;
  if (status === null)
    return (
      <span className="fault">
        <Badge tone="bad">{error ? wordIn(faults, error) : '—'}</Badge>
      </span>
    );
  return (
    <span className="inline">
      <Badge tone={isTaken ? 'good' : 'bad'}>{`${status}`}</Badge>
      {error && <span className="dim">{wordIn(faults, error)}</span>}
    </span>
  );
}

/** The answer to the last attempt; null: there was none. */
export const LastAnswer = ({ of }: { of: { http_status: number | null; error: string | null } | null }) =>
  of ? <Answer status={of.http_status} error={of.error} /> : <span className="dim">—</span>;
