import { useState } from 'react';
import type { KeyRow, NewKey } from '../../../../src/portal/shapes/keys.ts';
import { send } from '../../api.ts';
import { State, TestMark } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { type Column, Empty, KeysetTable, PageFrame } from '../../parts/page.tsx';
import { Ago, Time } from '../../parts/values.tsx';
import { useTexts } from '../../texts/language.ts';
import { usePartner } from '../partner.ts';
import { Action, ShowSecret } from '../parts.tsx';
import { usePortal } from '../texts/index.ts';
import { AddressesDialog, NewKeyDialog, RollDialog } from './key-dialogs.tsx';
import { texts } from './keys.texts.ts';

/** A live key spends the balance: only an owner creates or changes one. */
const roleFor = ({ mode }: Pick<KeyRow, 'mode'>) => (mode === 'live' ? 'owner' : 'developer');

type Dialog = { kind: 'new' } | { kind: 'roll' | 'revoke' | 'addresses'; key: KeyRow };

export default function Keys() {
  const t = useTexts(texts);
  const portal = usePortal();
  const { api } = usePartner();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [created, setCreated] = useState<NewKey | null>(null);
  const close = () => setDialog(null);
  return (
    <PageFrame
      title={portal.nav.keys}
      lead={t.lead}
      actions={
        <Action needs="developer" variant="filled" onClick={() => setDialog({ kind: 'new' })}>
          {t.create}
        </Action>
      }
    >
      <KeysetTable<KeyRow>
        label={portal.nav.keys}
        queryKey={['keys']}
        path={api('/keys')}
        columns={useColumns(setDialog)}
        keyOf={row => row.key_id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      {dialog?.kind === 'new' && <NewKeyDialog onClose={close} onCreated={setCreated} />}
      {dialog?.kind === 'roll' && <RollDialog apiKey={dialog.key} onClose={close} onCreated={setCreated} />}
      {dialog?.kind === 'addresses' && <AddressesDialog apiKey={dialog.key} onClose={close} />}
      {dialog?.kind === 'revoke' && (
        <Confirm
          title={t.revoke}
          says={t.revokeSays(dialog.key.key_id)}
          verb={t.revoke}
          danger
          run={() => send(api(`/keys/${dialog.key.key_id}/revoke`))}
          onClose={close}
        />
      )}
      {created && <ShowSecret title={t.created} secrets={[created.key]} onClose={() => setCreated(null)} />}
    </PageFrame>
  );
}

function useColumns(open: (dialog: Dialog) => void): Column<KeyRow>[] {
  const t = useTexts(texts);
  return [
    {
      head: t.key,
      cell: row => (
        <span className="inline">
          <code>{row.key_id}</code>
          <TestMark mode={row.mode} />
          {row.label && <span>{row.label}</span>}
        </span>
      ),
    },
    { head: t.state, cell: row => <State state={row.state} /> },
    {
      head: t.rights,
      cell: row => (
        <span>
          {t.scopes(row.scopes)}
          <span className="dim">{t.limits(row.max_payment_rub, row.max_day_rub)}</span>
        </span>
      ),
    },
    {
      head: t.addresses,
      cell: row => <span className="wrap-anywhere">{row.allowed_addresses.join(', ') || t.anyAddress}</span>,
      wideOnly: true,
    },
    { head: t.lastUsed, cell: row => <Ago at={row.last_used_at} /> },
    { head: t.expires, cell: row => <Time at={row.expires_at} as="short" />, wideOnly: true },
    { head: t.actions, cell: row => <Actions apiKey={row} open={open} /> },
  ];
}

function Actions({ apiKey: key, open }: { apiKey: KeyRow; open: (dialog: Dialog) => void }) {
  const t = useTexts(texts);
  if (key.state !== 'active') return <span className="dim">—</span>;
  const needs = roleFor(key);
  return (
    <span className="portal-actions">
      <Action
        needs={needs}
        why={key.rolled_to ? t.rolledTo(key.rolled_to) : undefined}
        onClick={() => open({ kind: 'roll', key })}
      >
        {t.roll}
      </Action>
      <Action needs={needs} onClick={() => open({ kind: 'addresses', key })}>
        {t.changeAddresses}
      </Action>
      <Action needs={needs} color="red" onClick={() => open({ kind: 'revoke', key })}>
        {t.revoke}
      </Action>
    </span>
  );
}
