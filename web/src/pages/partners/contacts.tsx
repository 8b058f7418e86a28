import { Textarea } from '@mantine/core';
import { useState } from 'react';
import type { PartnerDetail } from '../../../../src/console/shapes.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Confirm, Outdated } from '../../parts/confirm.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { inBoth, useTexts } from '../../texts/index.ts';

const texts = inBoth({
  title: ['Contacts and notes', 'Контакты и заметки'],
  says: [
    'Only operators see this. Changes are recorded in the audit log.',
    'Это видят только сотрудники. Изменения сохраняются в журнале действий.',
  ],
  contacts: ['Contacts', 'Контакты'],
  contactsHint: [
    'Name, role, phone, email, Telegram: one person per line',
    'Имя, должность, телефон, почта, Telegram: по одному человеку в строке',
  ],
  notes: ['Notes', 'Заметки'],
  stale: [
    'Another operator has changed the contacts in the meantime',
    'Другой сотрудник уже изменил контакты',
  ],
  takeTheirs: ['Use the current text', 'Взять текущий текст'],
});

type Contacts = PartnerDetail['contacts'];

export function ContactsCard({ partnerId, contacts }: { partnerId: string; contacts: Contacts }) {
  const t = useTexts(texts);
  const [isChanging, setChanging] = useState(false);
  return (
    <Card
      title={t.title}
      side={
        <Action needs="partners.contacts" onClick={() => setChanging(true)}>
          {t.change}
        </Action>
      }
    >
      <Facts
        facts={[
          [t.contacts, <Lines key="contacts" text={contacts.contacts} />],
          [t.notes, <Lines key="notes" text={contacts.notes} />],
        ]}
      />
      {isChanging && <Change partnerId={partnerId} contacts={contacts} onClose={() => setChanging(false)} />}
    </Card>
  );
}

const Lines = ({ text }: { text: string }) =>
  text ? <span className="lines">{text}</span> : <span className="dim">—</span>;

interface ChangeProps {
  partnerId: string;
  contacts: Contacts;
  onClose: () => void;
}

/** Sends the version it was made on: a change based on an old one is refused. */
function Change({ partnerId, contacts, onClose }: ChangeProps) {
  const t = useTexts(texts);
  const [seen, setSeen] = useState(contacts);
  const [draft, setDraft] = useState(contacts);
  const isStale = seen.version !== contacts.version;
  const isUnchanged = draft.contacts === seen.contacts && draft.notes === seen.notes;
  return (
    <Confirm
      title={t.title}
      says={t.says}
      verb={t.save}
      ready={!isStale && !isUnchanged}
      run={() => send(`/partners/${partnerId}/contacts`, { ...draft, version: seen.version })}
      onClose={onClose}
    >
      <Textarea
        label={t.contacts}
        description={t.contactsHint}
        rows={4}
        maxLength={2_000}
        value={draft.contacts}
        onChange={event => setDraft({ ...draft, contacts: event.currentTarget.value })}
        data-autofocus
      />
      <Textarea
        label={t.notes}
        rows={6}
        maxLength={2_000}
        value={draft.notes}
        onChange={event => setDraft({ ...draft, notes: event.currentTarget.value })}
      />
      {isStale && (
        <Outdated
          title={t.stale}
          verb={t.takeTheirs}
          onTake={() => {
            setSeen(contacts);
            setDraft(contacts);
          }}
        />
      )}
    </Confirm>
  );
}
