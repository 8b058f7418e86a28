import { Textarea } from '@mantine/core';
import { useState } from 'react';
import type { KeyRow, NewKey } from '../../../../src/portal/shapes/keys.ts';
import { send } from '../../api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { SelectField, TextField } from '../../parts/fields.tsx';
import { useTexts } from '../../texts/language.ts';
import { usePartner } from '../partner.ts';
import { usePortal } from '../texts/index.ts';
import { texts } from './keys.texts.ts';

interface CreatingProps {
  onClose: () => void;
  onCreated: (key: NewKey) => void;
}

/** One address in a line, or separated by commas. */
const readAddresses = (text: string) => text.split(/[\s,;]+/).filter(Boolean);
const decimal = (text: string) => text.trim().replace(',', '.') || undefined;

export function NewKeyDialog({ onClose, onCreated }: CreatingProps) {
  const t = useTexts(texts);
  const portal = usePortal();
  const { api, partner, may } = usePartner();
  const canBeLive = partner.is_live_approved && may('owner');
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
    ...(form.scope !== 'read' && decimal(form.payment) ? { max_payment_rub: decimal(form.payment) } : {}),
    ...(form.scope !== 'read' && decimal(form.day) ? { max_day_rub: decimal(form.day) } : {}),
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
        label={portal.mode}
        description={canBeLive ? undefined : t.onlyTest}
        value={form.mode}
        onChange={mode => set({ mode })}
        words={{ test: portal.test, live: portal.live }}
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
            label={t.maxDay}
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
