import { Textarea } from '@mantine/core';
import { useState } from 'react';
import type { NewKey } from '../../../../src/portal/shapes.ts';
import type { KeyRow } from '../../../../src/web/shapes.ts';
import { send } from '../../api.ts';
import { State, TestMark } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { SelectField, TextField } from '../../parts/fields.tsx';
import { type Column, Empty, KeysetTable, PageFrame } from '../../parts/page.tsx';
import { Ago, clean, Time } from '../../parts/values.tsx';
import { usePartner } from '../partner.ts';
import { Action, ShowSecret, useLimitDay } from '../parts.tsx';
import { useTexts } from '../texts/index.ts';
import { texts } from './keys.texts.ts';

/** A live key spends the balance: only an owner creates or changes one. */
const rightFor = ({ mode }: Pick<KeyRow, 'mode'>) => (mode === 'live' ? 'own' : 'integrate');

type Dialog = { kind: 'new' } | { kind: 'roll' | 'revoke' | 'addresses'; key: KeyRow };

export default function Keys() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [created, setCreated] = useState<NewKey | null>(null);
  const close = () => setDialog(null);
  return (
    <PageFrame
      title={t.nav.keys}
      lead={t.lead}
      actions={
        <Action needs="integrate" variant="filled" onClick={() => setDialog({ kind: 'new' })}>
          {t.create}
        </Action>
      }
    >
      <KeysetTable<KeyRow>
        label={t.nav.keys}
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
  const needs = rightFor(key);
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

interface CreatingProps {
  onClose: () => void;
  onCreated: (key: NewKey) => void;
}

/** One address in a line, or separated by commas. */
const readAddresses = (text: string) => text.split(/[\s,;]+/).filter(Boolean);

export function NewKeyDialog({ onClose, onCreated }: CreatingProps) {
  const t = useTexts(texts);
  const limitDay = useLimitDay();
  const { api, partner, may } = usePartner();
  const canBeLive = partner.is_live_approved && may('own');
  const [form, setForm] = useState({
    mode: canBeLive ? 'live' : 'test',
    scope: 'both',
    label: '',
    days: '',
    payment: '',
    day: '',
    addresses: '',
  });
  const set = (change: Partial<typeof form>) => setForm({ ...form, ...change });
  const body = {
    mode: form.mode,
    scopes: form.scope === 'both' ? ['read', 'pay'] : [form.scope],
    allowed_addresses: readAddresses(form.addresses),
    ...(form.label.trim() ? { label: form.label.trim() } : {}),
    ...(form.days ? { expires_in_days: Number(form.days) } : {}),
    ...(form.scope !== 'read' && clean(form.payment) ? { max_payment_rub: clean(form.payment) } : {}),
    ...(form.scope !== 'read' && clean(form.day) ? { max_day_rub: clean(form.day) } : {}),
  };
  return (
    <Confirm
      title={t.create}
      says={t.createSays}
      verb={t.create}
      run={() => send<NewKey>(api('/keys'), body)}
      onClose={onClose}
      onDone={key => onCreated(key as NewKey)}
    >
      <SelectField
        label={t.mode}
        description={canBeLive ? undefined : t.onlyTest}
        value={form.mode}
        onChange={mode => set({ mode })}
        words={{ test: t.test, live: t.live }}
        values={canBeLive ? ['test', 'live'] : ['test']}
      />
      <SelectField
        label={t.rights}
        value={form.scope}
        onChange={scope => set({ scope })}
        words={t.scopeChoice}
      />
      <TextField label={t.label} maxLength={128} value={form.label} onChange={label => set({ label })} />
      <TextField
        label={t.days}
        inputMode="numeric"
        placeholder={t.noEnd}
        value={form.days}
        onChange={days => set({ days: days.replace(/\D/g, '').slice(0, 4) })}
      />
      {form.scope !== 'read' && (
        <>
          <TextField
            label={t.maxPayment}
            inputMode="decimal"
            placeholder={t.noLimit}
            value={form.payment}
            onChange={payment => set({ payment })}
          />
          <TextField
            label={t.maxDay(limitDay)}
            inputMode="decimal"
            placeholder={t.noLimit}
            value={form.day}
            onChange={day => set({ day })}
          />
        </>
      )}
      <AddressField value={form.addresses} onChange={addresses => set({ addresses })} />
    </Confirm>
  );
}

function AddressField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = useTexts(texts);
  return (
    <Textarea
      label={t.addresses}
      description={t.addressesHint}
      placeholder={t.anyAddress}
      minRows={2}
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
    />
  );
}

export function RollDialog({ apiKey, onClose, onCreated }: CreatingProps & { apiKey: KeyRow }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const [hours, setHours] = useState('24');
  return (
    <Confirm
      title={t.roll}
      says={t.rollSays(apiKey.key_id)}
      verb={t.roll}
      run={() => send<NewKey>(api(`/keys/${apiKey.key_id}/roll`), { overlap_hours: Number(hours) })}
      onClose={onClose}
      onDone={key => onCreated(key as NewKey)}
    >
      <SelectField
        label={t.overlap}
        value={hours}
        onChange={setHours}
        words={t.overlaps}
        values={['0', '1', '24', '168']}
      />
    </Confirm>
  );
}

export function AddressesDialog({ apiKey, onClose }: { apiKey: KeyRow; onClose: () => void }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const [text, setText] = useState(apiKey.allowed_addresses.join('\n'));
  return (
    <Confirm
      title={t.addresses}
      says={t.addressesSays(apiKey.key_id)}
      verb={t.save}
      run={() => send(api(`/keys/${apiKey.key_id}/addresses`), { allowed_addresses: readAddresses(text) })}
      onClose={onClose}
    >
      <AddressField value={text} onChange={setText} />
    </Confirm>
  );
}
