import { Button } from '@mantine/core';
import { useState } from 'react';
import type { RecipientRow } from '../../../src/console/shapes.ts';
import { send } from '../api.ts';
import { Action } from '../parts/action.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { SearchField, TextField } from '../parts/fields.tsx';
import { Empty, Loaded, PageFrame, Rows, useLive } from '../parts/page.tsx';
import { Count, Time } from '../parts/values.tsx';
import { inBoth, useTexts } from '../texts/index.ts';

const texts = inBoth({
  lead: [
    'Payments to blocked recipients are rejected before the balance is debited.',
    'Платежи заблокированным получателям отклоняются до списания с баланса.',
  ],
  block: ['Block recipient', 'Заблокировать получателя'],
  blockVerb: ['Block', 'Заблокировать'],
  blockSays: [
    'New payments of all partners to this recipient are rejected immediately. Payments in progress are completed.',
    'Новые платежи всех партнёров этому получателю сразу перестанут приниматься. Начатые платежи будут завершены.',
  ],
  unblock: ['Unblock', 'Разблокировать'],
  unblockSays: [
    'New payments to this recipient are accepted again.',
    'Новые платежи этому получателю снова будут приниматься.',
  ],
  recipientHint: [
    'Name or ID as in the payments, not case-sensitive',
    'Название или ID, как в платежах, без учёта регистра',
  ],
  since: ['Blocked since', 'Заблокирован с'],
  search: ['Search blocked recipients', 'Поиск заблокированных получателей'],
  none: ['No blocked recipients', 'Заблокированных получателей нет'],
  noneHint: [
    'Block a recipient to reject payments to it.',
    'Заблокируйте получателя, чтобы отклонять платежи ему.',
  ],
  noneFound: ['No blocked recipient found', 'Заблокированный получатель не найден'],
  shown: ['of', 'из'],
});

const atOnce = 100;

export default function Recipients() {
  const t = useTexts(texts);
  const [search, setSearch] = useState('');
  const [most, setMost] = useState(atOnce);
  const [blocking, setBlocking] = useState(false);
  const [unblocking, setUnblocking] = useState<string | null>(null);
  const list = useLive<{ data: RecipientRow[] }>('/recipients', 10_000);
  const wanted = search.trim().toLowerCase();
  const found = list.data?.data.filter(row => row.recipient.toLowerCase().includes(wanted));
  return (
    <PageFrame
      title={t.nav.recipients}
      lead={t.lead}
      actions={
        <Action needs="recipients.block" variant="filled" onClick={() => setBlocking(true)}>
          {t.block}
        </Action>
      }
    >
      <Loaded of={list} />
      {found && (
        <>
          <search className="filters">
            <SearchField
              className="filter-wide"
              aria-label={t.search}
              placeholder={t.search}
              value={search}
              onChange={setSearch}
            />
          </search>
          <Rows
            label={t.nav.recipients}
            rows={found.slice(0, most)}
            keyOf={row => row.recipient}
            empty={wanted ? <Empty title={t.noneFound} /> : <Empty title={t.none}>{t.noneHint}</Empty>}
            columns={[
              { head: t.recipient, cell: row => <span className="wrap-anywhere">{row.recipient}</span> },
              { head: t.since, cell: row => <Time as="short" at={row.blocked_at} /> },
              {
                head: t.actions,
                right: true,
                cell: row => (
                  <Action needs="recipients.block" onClick={() => setUnblocking(row.recipient)}>
                    {t.unblock}
                  </Action>
                ),
              },
            ]}
          />
          {found.length > most && (
            <div className="more">
              <Button size="xs" variant="default" onClick={() => setMost(most + atOnce)}>
                {t.more} ({most} {t.shown} <Count value={found.length} />)
              </Button>
            </div>
          )}
        </>
      )}
      {blocking && <Block onClose={() => setBlocking(false)} />}
      {unblocking !== null && (
        <Confirm
          title={`${t.unblock}: ${unblocking}`}
          says={t.unblockSays}
          verb={t.unblock}
          run={() => send('/recipients/unblock', { recipient: unblocking })}
          onClose={() => setUnblocking(null)}
        />
      )}
    </PageFrame>
  );
}

function Block({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const [recipient, setRecipient] = useState('');
  return (
    <Confirm
      title={t.block}
      says={t.blockSays}
      verb={t.blockVerb}
      danger
      ready={recipient.trim().length > 0}
      run={() => send('/recipients/block', { recipient: recipient.trim() })}
      onClose={onClose}
    >
      <TextField
        label={t.recipient}
        description={t.recipientHint}
        required
        maxLength={128}
        value={recipient}
        onChange={setRecipient}
        data-autofocus
      />
    </Confirm>
  );
}
