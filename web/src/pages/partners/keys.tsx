import { Textarea } from '@mantine/core';
import { useState } from 'react';
import type { KeyRow } from '../../../../src/web/shapes.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { State, TestMark } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Card, Empty, Rows } from '../../parts/page.tsx';
import { Ago, Time } from '../../parts/values.tsx';
import { useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

/** Only the id of a key is known here: the secret was shown once, to the partner. */
export function KeysCard({ keys }: { keys: KeyRow[] }) {
  const t = useTexts(texts);
  const [revoking, setRevoking] = useState<KeyRow | null>(null);
  const [allowing, setAllowing] = useState<KeyRow | null>(null);
  return (
    <Card title={t.keys}>
      <Rows<KeyRow>
        label={t.keys}
        rows={keys}
        keyOf={key => key.key_id}
        empty={<Empty title={t.noKeys}>{t.noKeysHint}</Empty>}
        columns={[
          {
            head: t.key,
            cell: key => (
              <>
                <span className="inline">
                  <code>{key.key_id}</code> <TestMark mode={key.mode} />
                </span>
                <Rights of={key} />
              </>
            ),
          },
          {
            head: t.state,
            cell: key => (
              <>
                <State state={key.state} />
                <Expiry of={key} />
              </>
            ),
          },
          { head: t.addresses, cell: key => <Addresses key={key.key_id} of={key} /> },
          { head: t.lastUsed, cell: key => <Ago at={key.last_used_at} /> },
          { head: t.created, wideOnly: true, cell: key => <Time as="short" at={key.created_at} /> },
          {
            head: t.actions,
            right: true,
            cell: key =>
              key.revoked_at ? (
                <span className="dim">
                  {t.revokedAt} <Time as="short" at={key.revoked_at} />
                </span>
              ) : key.state === 'expired' ? null : (
                <span className="row-actions">
                  <Action needs="keys.addresses" onClick={() => setAllowing(key)}>
                    {t.addressesButton}
                  </Action>
                  <Action needs="keys.revoke" color="red" variant="light" onClick={() => setRevoking(key)}>
                    {t.revoke}
                  </Action>
                </span>
              ),
          },
        ]}
      />
      {revoking && (
        <Confirm
          title={`${t.revoke}: ${revoking.key_id}`}
          says={revoking.mode === 'live' ? t.revokeSaysLive : t.revokeSays}
          verb={t.revoke}
          danger
          run={() => send(`/keys/${revoking.key_id}/revoke`)}
          onClose={() => setRevoking(null)}
        />
      )}
      {allowing && <Allow of={allowing} onClose={() => setAllowing(null)} />}
    </Card>
  );
}

/** Label and limits; nothing for a key with all rights. */
function Rights({ of: { label, scopes, max_payment_rub, max_day_rub } }: { of: KeyRow }) {
  const t = useTexts(texts);
  const parts = [
    label,
    scopes.length === 1 && t.onlyScope[scopes[0]!],
    max_payment_rub !== null && t.perPayment(max_payment_rub),
    max_day_rub !== null && t.perDay(max_day_rub),
  ].filter(Boolean);
  return parts.length === 0 ? null : <div className="dim wrap-anywhere">{parts.join('; ')}</div>;
}

function Expiry({ of: { expires_at, rolled_to } }: { of: KeyRow }) {
  const t = useTexts(texts);
  if (expires_at === null) return null;
  return (
    <div className="dim">
      {t.until} <Time as="short" at={expires_at} />
      {rolled_to !== null && (
        <>
          , {t.rolledTo} <code>{rolled_to}</code>
        </>
      )}
    </div>
  );
}

function Addresses({ of: { allowed_addresses } }: { of: KeyRow }) {
  const t = useTexts(texts);
  if (allowed_addresses.length === 0) return <span className="dim">{t.anyAddress}</span>;
  return (
    <span className="wrap-anywhere">
      <code>{allowed_addresses.slice(0, 2).join(', ')}</code>
      {allowed_addresses.length > 2 && (
        <span className="dim" title={allowed_addresses.slice(2).join(', ')}>
          {' '}
          {t.andMore(allowed_addresses.length - 2)}
        </span>
      )}
    </span>
  );
}

function Allow({ of: { key_id, allowed_addresses }, onClose }: { of: KeyRow; onClose: () => void }) {
  const t = useTexts(texts);
  const [text, setText] = useState(allowed_addresses.join('\n'));
  const chosen = text.split(/[\s,;]+/).filter(one => one !== '');
  const isUnchanged = chosen.join(' ') === allowed_addresses.join(' ');
  return (
    <Confirm
      title={`${t.addresses}: ${key_id}`}
      says={t.addressesSay}
      verb={chosen.length === 0 ? t.allowAll : t.allowThese(chosen.length)}
      danger={chosen.length === 0}
      ready={!isUnchanged}
      run={() => send(`/keys/${key_id}/addresses`, { allowed_addresses: chosen })}
      onClose={onClose}
    >
      <Textarea
        label={t.addresses}
        description={t.addressesHint}
        rows={5}
        spellCheck={false}
        value={text}
        onChange={event => setText(event.currentTarget.value)}
        data-autofocus
      />
    </Confirm>
  );
}
