import type { AccountRow, TrialBalance } from '../../../../src/console/shapes/ledger.ts';
import { Badge, TestMark } from '../../parts/badge.tsx';
import { Card, Empty, KeysetTable, Loaded, PageFrame, Rows, useLive } from '../../parts/page.tsx';
import { Count, Usdt } from '../../parts/values.tsx';
import { useShared, useTexts, wordIn } from '../../texts/index.ts';
import { texts } from './texts.ts';
import { Verify } from './verify.tsx';

export function LedgerOverview() {
  const shared = useShared();
  const t = useTexts(texts);
  return (
    <PageFrame title={shared.nav.ledger} lead={t.lead}>
      <div className="stack">
        <div className="grid">
          <Trial />
          <Verify />
        </div>
        <section>
          <h2 className="section-title">{t.accounts}</h2>
          <KeysetTable<AccountRow>
            label={t.accounts}
            queryKey={['accounts']}
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
              {
                head: t.names.available,
                right: true,
                cell: row => <Usdt bare amount={row.available_usdt} />,
              },
              { head: t.names.held, right: true, cell: row => <Usdt bare amount={row.held_usdt} /> },
              { head: t.names.settled, right: true, cell: row => <Usdt bare amount={row.settled_usdt} /> },
              {
                head: t.names.topup,
                right: true,
                wideOnly: true,
                cell: row => <Usdt bare amount={row.topup_usdt} />,
              },
              {
                head: t.names.treasury,
                right: true,
                wideOnly: true,
                cell: row => <Usdt bare amount={row.treasury_usdt} />,
              },
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
  const read = useLive<TrialBalance>(['trial-balance'], '/ledger/trial-balance', 10_000);
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
