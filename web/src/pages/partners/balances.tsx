import { Alert } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { PartnerDetail, SettingsPage } from '../../../../src/console/shapes.ts';
import type { Mode } from '../../../../src/web/shapes.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { BalanceChange } from '../../parts/balance-change.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { ModeChoice, modes, TextField } from '../../parts/fields.tsx';
import { Card, Rows, useOnce } from '../../parts/page.tsx';
import { clean, Usdt } from '../../parts/values.tsx';
import { useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

export function Balances({ detail }: { detail: PartnerDetail }) {
  const t = useTexts(texts);
  const [crediting, setCrediting] = useState(false);
  const { partner_id } = detail.partner;
  return (
    <Card
      title={t.balances}
      side={
        <Action needs="balances.credit" onClick={() => setCrediting(true)}>
          {t.credit}
        </Action>
      }
    >
      <Rows
        label={t.balances}
        rows={modes.map(mode => ({ mode, ...detail.balances[mode] }))}
        keyOf={row => row.mode}
        columns={[
          { head: t.mode, cell: row => t.modes[row.mode] },
          { head: t.available, right: true, cell: row => <Usdt bare amount={row.available_usdt} /> },
          { head: t.held, right: true, cell: row => <Usdt bare amount={row.held_usdt} /> },
          { head: t.settled, right: true, cell: row => <Usdt bare amount={row.settled_usdt} /> },
          {
            head: t.ledger,
            right: true,
            cell: row => <Link href={`/ledger/${partner_id}/${row.mode}`}>{t.toEntries}</Link>,
          },
        ]}
      />
      {detail.quotes.count > 0 && (
        <p className="dim">
          {t.lockedQuotes(detail.quotes.count)}: <Usdt amount={detail.quotes.locked_usdt} bare /> /{' '}
          <Usdt amount={detail.quotes.max_usdt} cents />
        </p>
      )}
      {crediting && <Credit detail={detail} onClose={() => setCrediting(false)} />}
    </Card>
  );
}

const isAmount = (text: string) => /^\d{1,9}(\.\d{1,6})?$/.test(text) && Number(text) > 0;

/** Credits money that has arrived. A reference is credited only once. */
function Credit({ detail: { partner, balances }, onClose }: { detail: PartnerDetail; onClose: () => void }) {
  const t = useTexts(texts);
  const [mode, setMode] = useState<Mode>('live');
  const [amount, setAmount] = useState('');
  const [reference, setReference] = useState('');
  const threshold = useOnce<SettingsPage>('/settings').data?.thresholds.credit_usdt;
  const usdt = clean(amount);
  const needsSecond =
    mode === 'live' && threshold !== undefined && isAmount(usdt) && Number(usdt) > Number(threshold);
  return (
    <Confirm
      title={`${t.credit}: ${partner.name}`}
      says={t.creditSays}
      verb={needsSecond ? t.creditAsk : t.creditVerb}
      ready={isAmount(usdt) && reference.trim().length > 0}
      run={() => send(`/partners/${partner.partner_id}/credit`, { mode, usdt, reference: reference.trim() })}
      onClose={onClose}
    >
      <div>
        <ModeChoice value={mode} onChange={setMode} />
      </div>
      <TextField
        label={t.amountUsdt}
        inputMode="decimal"
        required
        value={amount}
        error={amount !== '' && !isAmount(usdt) && t.notAnAmount}
        onChange={setAmount}
        data-autofocus
      />
      <TextField
        label={t.reference}
        description={t.referenceHint}
        required
        maxLength={128}
        value={reference}
        onChange={setReference}
      />
      {isAmount(usdt) && (
        <BalanceChange
          balance={{ partner_id: partner.partner_id, partner: partner.name, mode, ...balances[mode] }}
          effect="credit"
          usdt={usdt}
        />
      )}
      {threshold !== undefined && (
        <Alert color={needsSecond ? 'yellow' : 'blue'} p="sm">
          {needsSecond ? t.creditSecond : t.creditAlone} <Usdt amount={threshold} />.
        </Alert>
      )}
    </Confirm>
  );
}
