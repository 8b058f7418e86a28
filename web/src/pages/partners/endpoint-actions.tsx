import { useState } from 'react';
import type { EndpointRow } from '../../../../src/web/shapes.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CheckList, EndpointUrl, SelectField } from '../../parts/fields.tsx';
import { inBoth, useTexts } from '../../texts/index.ts';

const texts = inBoth({
  addSays: [
    'It gets its own secret and the chosen events from now on. The partner sees it in the bot and the portal.',
    'У обработчика будет свой секрет; выбранные события приходят начиная с этого момента. Партнёр увидит его в боте и личном кабинете.',
  ],
  address: ['Change URL', 'Изменить URL'],
  addressSays: ['Pending events go to the new URL.', 'Ожидающие события уйдут на новый URL.'],
  events: ['Change events', 'Изменить события'],
  eventsSay: [
    'The chosen events are sent from now on, and no others.',
    'Дальше отправляются только выбранные события.',
  ],
  ed25519On: ['Sign with Ed25519', 'Подписывать Ed25519'],
  ed25519Off: ['Stop signing with Ed25519', 'Не подписывать Ed25519'],
  ed25519Says: [
    'Requests carry a signature with the Ed25519 key of the partner, besides those with the secret.',
    'К подписям с секретом добавится подпись ключом Ed25519, который есть только у этого партнёра.',
  ],
  ed25519SaysOff: [
    'Receivers that require this signature will reject events.',
    'Обработчики, которые требуют эту подпись, начнут отклонять события.',
  ],
  removeSays: (url: string) => [
    `${url} gets no more events, and pending ones are dropped.`,
    `${url} больше не получит событий, а ожидающие будут сняты с очереди.`,
  ],
  kinds: ['Events', 'События'],
  actions: ['Change endpoint', 'Изменить обработчик'],
});

/** One more endpoint in one mode. */
export function AddEndpoint({ partnerId, kinds }: { partnerId: string; kinds: string[] }) {
  const t = useTexts(texts);
  const [isOpen, setOpen] = useState(false);
  const [url, setUrl] = useState('');
  const [mode, setMode] = useState('live');
  const [events, setEvents] = useState(kinds);
  return (
    <div>
      <Action needs="webhooks.change" onClick={() => setOpen(true)}>
        {t.add}
      </Action>
      {isOpen && (
        <Confirm
          title={t.add}
          says={t.addSays}
          verb={t.add}
          withReason
          ready={url.trim() !== '' && events.length > 0}
          run={reason => send(`/partners/${partnerId}/endpoints`, { url: url.trim(), mode, events, reason })}
          onClose={() => setOpen(false)}
          onDone={() => setUrl('')}
        >
          <EndpointUrl label={t.url} value={url} onChange={setUrl} />
          <SelectField
            label={t.mode}
            value={mode}
            onChange={setMode}
            words={{ live: t.live, test: t.test }}
          />
          <CheckList label={t.kinds} options={kinds} chosen={events} onChange={setEvents} />
        </Confirm>
      )}
    </div>
  );
}

type Change = 'address' | 'events' | 'ed25519' | 'remove';

export interface EndpointProps {
  partnerId: string;
  endpoint: EndpointRow;
  kinds: string[];
}

/** What can be changed at an endpoint; each needs a reason. */
export function EndpointActions(props: EndpointProps) {
  const t = useTexts(texts);
  const [change, setChange] = useState<Change | null>(null);
  const names: Record<Change, string> = {
    address: t.address,
    events: t.events,
    ed25519: props.endpoint.has_ed25519 ? t.ed25519Off : t.ed25519On,
    remove: t.remove,
  };
  return (
    <>
      <fieldset className="actions card-actions" aria-label={t.actions}>
        {(Object.keys(names) as Change[]).map(name => (
          <Action key={name} needs="webhooks.change" onClick={() => setChange(name)}>
            {names[name]}
          </Action>
        ))}
      </fieldset>
      {change && (
        <ChangeDialog {...props} change={change} title={names[change]} onClose={() => setChange(null)} />
      )}
    </>
  );
}

interface DialogProps extends EndpointProps {
  change: Change;
  title: string;
  onClose: () => void;
}

function ChangeDialog({ partnerId, endpoint, kinds, change, title, onClose }: DialogProps) {
  const t = useTexts(texts);
  const [url, setUrl] = useState(endpoint.url);
  const [events, setEvents] = useState<string[]>(endpoint.events);
  const says: Record<Change, string> = {
    address: t.addressSays,
    events: endpoint.is_first ? t.firstEvents : t.eventsSay,
    ed25519: endpoint.has_ed25519 ? t.ed25519SaysOff : t.ed25519Says,
    remove: t.removeSays(endpoint.url),
  };
  const bodies: Record<Change, object> = {
    address: { url: url.trim() },
    events: { events },
    ed25519: { is_on: !endpoint.has_ed25519 },
    remove: {},
  };
  const isReady: Record<Change, boolean> = {
    address: url.trim() !== '' && url.trim() !== endpoint.url,
    events: events.length > 0,
    ed25519: true,
    remove: true,
  };
  return (
    <Confirm
      title={title}
      says={says[change]}
      verb={change === 'remove' ? t.remove : t.save}
      danger={change === 'remove'}
      withReason
      ready={isReady[change]}
      run={reason =>
        send(`/partners/${partnerId}/endpoints/${endpoint.endpoint_id}/${change}`, {
          ...bodies[change],
          reason,
        })
      }
      onClose={onClose}
    >
      {change === 'address' && <EndpointUrl label={t.url} value={url} onChange={setUrl} />}
      {change === 'events' && (
        <CheckList label={t.kinds} options={kinds} chosen={events} onChange={setEvents} />
      )}
    </Confirm>
  );
}
