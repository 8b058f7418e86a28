import { useState } from 'react';
import type { DepositRow, Balance as Shape } from '../../../../src/portal/shapes.ts';
import { send } from '../../api.ts';
import { State, TestMark } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { TextField } from '../../parts/fields.tsx';
import { useRun } from '../../parts/notify.ts';
import { Card, Empty, Facts, KeysetTable, Loaded, PageFrame, Rows, useLive } from '../../parts/page.tsx';
import {
  Copyable,
  clean,
  ExplorerLink,
  editableIn,
  Rub,
  ShortHash,
  Time,
  Usdt,
} from '../../parts/values.tsx';
import { usePartner } from '../partner.ts';
import { Action, Tile, useLimitDay } from '../parts.tsx';
import { Support } from '../support.tsx';
import { useLanguage, useTexts } from '../texts/index.ts';
import { texts } from './balance.texts.ts';

export default function Balance() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const read = useLive<Shape>(api('/balance'), 15_000);
  const { data } = read;
  return (
    <PageFrame title={t.nav.balance}>
      <Loaded of={read} />
      {data && <Money balance={data} />}
      {data && <TopUp balance={data} />}
      {data && <Limits limits={data.limits} />}
      <Card title={t.deposits}>
        <KeysetTable<DepositRow>
          label={t.deposits}
          path={api('/deposits')}
          everyMs={15_000}
          columns={[
            { head: t.seen, cell: row => <Time at={row.seen_at} as="short" /> },
            { head: t.state, cell: row => <State state={row.state} words={t.states} /> },
            { head: 'USDT', cell: row => <Usdt amount={row.amount_usdt} bare />, right: true },
            { head: t.network, cell: row => row.network },
            {
              head: t.transaction,
              cell: row => (
                <ExplorerLink url={row.transaction_url}>
                  <ShortHash text={row.transaction_id} />
                </ExplorerLink>
              ),
            },
            { head: t.credited, cell: row => <Time at={row.credited_at} as="short" />, wideOnly: true },
          ]}
          keyOf={row => row.deposit_id}
          empty={<Empty title={t.noDeposits} />}
        />
      </Card>
      {data && (
        <Card title={t.credits}>
          <Rows
            label={t.credits}
            columns={[
              {
                head: t.credited,
                cell: row => (
                  <span className="inline">
                    <Time at={row.at} as="short" />
                    <TestMark mode={row.mode} />
                  </span>
                ),
              },
              { head: 'USDT', cell: row => <Usdt amount={row.amount_usdt} bare />, right: true },
              { head: t.reference, cell: row => <span className="wrap-anywhere">{row.reference}</span> },
            ]}
            rows={data.credits}
            keyOf={row => `${row.at} ${row.reference}`}
            empty={<Empty title={t.noCredits} />}
          />
        </Card>
      )}
    </PageFrame>
  );
}

function Money({ balance }: { balance: Shape }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const { pending, run } = useRun();
  const [isSetting, setSetting] = useState(false);
  return (
    <>
      <section className="tiles" aria-label={t.nav.balance}>
        {(['live', 'test'] as const).map(mode => (
          <Tile key={mode} name={t[mode]} value={<Usdt amount={balance[mode].available_usdt} cents />}>
            <p className="dim">
              {t.held} <Usdt amount={balance[mode].held_usdt} cents />
            </p>
          </Tile>
        ))}
        <Tile
          name={t.alert}
          value={balance.alert_usdt === null ? t.noAlert : <Usdt amount={balance.alert_usdt} cents />}
        />
      </section>
      <p className="inline">
        <Action needs="own" onClick={() => setSetting(true)}>
          {t.setAlert}
        </Action>
        <Action
          needs="integrate"
          loading={pending}
          onClick={() => run(() => send(api('/balance/refill')), t.refilled)}
        >
          {t.refill}
        </Action>
      </p>
      {isSetting && <AlertDialog now={balance.alert_usdt} onClose={() => setSetting(false)} />}
    </>
  );
}

function AlertDialog({ now, onClose }: { now: string | null; onClose: () => void }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const language = useLanguage();
  const [text, setText] = useState(editableIn(language, now ?? ''));
  const wanted = clean(text);
  return (
    <Confirm
      title={t.alert}
      says={t.alertSays}
      verb={t.save}
      run={() => send(api('/balance/alert'), { alert_usdt: wanted === '' ? null : wanted })}
      onClose={onClose}
    >
      <TextField label="USDT" inputMode="decimal" placeholder={t.noAlert} value={text} onChange={setText} />
    </Confirm>
  );
}

function TopUp({ balance: { addresses } }: { balance: Shape }) {
  const t = useTexts(texts);
  const { partner } = usePartner();
  return (
    <Card title={t.topUp}>
      {addresses === null && <p>{t.afterApproval}</p>}
      {addresses?.length === 0 && (
        <p>
          {t.noAddress} <Support ask={t.askAddress} otherwise={t.noAddressOtherwise} />
          <br />
          {t.yourId(partner.partner_id)}
        </p>
      )}
      {addresses && addresses.length > 0 && <p className="card-lead">{t.realMoney}</p>}
      {addresses?.map(({ chain, network, address, address_url, qr_svg, min_usdt, usual_minutes }) => (
        <div key={chain} className="portal-address">
          <img
            className="portal-qr"
            alt={t.qrOf(network)}
            src={`data:image/svg+xml;utf8,${encodeURIComponent(qr_svg)}`}
          />
          <div>
            <h3>{network}</h3>
            <p className="wrap-anywhere">
              <Copyable text={address} />
            </p>
            <p>
              <ExplorerLink url={address_url}>{t.inExplorer}</ExplorerLink>
            </p>
            <p className="dim">{t.terms(min_usdt, usual_minutes)}</p>
            <p className="dim">{t.onlyThisNetwork(network)}</p>
          </div>
        </div>
      ))}
    </Card>
  );
}

function Limits({ limits }: { limits: Shape['limits'] }) {
  const t = useTexts(texts);
  const limitDay = useLimitDay();
  return (
    <Card title={t.limits}>
      <Facts
        facts={[
          [t.minPayment, <Rub key="min" amount={limits.min_rub} />],
          [t.maxPayment, <Rub key="max" amount={limits.max_rub} />],
          [
            t.perDay(limitDay),
            limits.daily_rub === null ? t.unlimited : <Rub key="day" amount={limits.daily_rub} />,
          ],
          [t.concurrent, limits.concurrent],
          [t.createRate, t.perSecond(limits.create_rps, limits.create_burst)],
          [t.otherRate, t.perSecond(limits.other_rps, null)],
        ]}
      />
      <p className="dim">
        <Support ask={t.raise} otherwise={t.raiseOtherwise} />
      </p>
    </Card>
  );
}
