import { useState } from 'react';
import type { EndpointRow, Secrets, WebhookPage } from '../../../../src/portal/shapes/webhook.ts';
import { send } from '../../api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CheckList, EndpointUrl, SelectField } from '../../parts/fields.tsx';
import { useTexts } from '../../texts/language.ts';
import { useMode, usePartner } from '../partner.ts';
import { usePortal } from '../texts/index.ts';
import { texts } from './webhook.texts.ts';

export type Dialog = 'address' | 'events' | 'rotate' | 'remove';

/** The first endpoint gets both modes and all events of the contract; the others what they ask for. */
export function AddDialog({ page, onClose }: { page: WebhookPage; onClose: () => void }) {
  const t = useTexts(texts);
  const portal = usePortal();
  const { api } = usePartner();
  const [url, setUrl] = useState('');
  const [mode, setMode] = useState<string>(useMode());
  const [events, setEvents] = useState<string[]>(page.event_kinds);
  const isFirst = !page.endpoints.some(({ is_first }) => is_first);
  return (
    <Confirm
      title={t.add}
      says={isFirst ? t.addFirstSays : t.addSays(page.max_endpoints)}
      verb={t.add}
      ready={url.trim() !== '' && (isFirst || events.length > 0)}
      run={() => send(api('/webhook'), { url: url.trim(), ...(isFirst ? {} : { mode, events }) })}
      onClose={onClose}
    >
      <EndpointUrl label={t.address} value={url} onChange={setUrl} />
      {!isFirst && (
        <>
          <SelectField
            label={portal.mode}
            value={mode}
            onChange={setMode}
            words={{ live: portal.live, test: portal.test }}
          />
          <CheckList label={t.events} options={page.event_kinds} chosen={events} onChange={setEvents} />
        </>
      )}
    </Confirm>
  );
}

interface DialogProps {
  dialog: Dialog;
  endpoint: EndpointRow;
  kinds: string[];
  path: string;
  onClose: () => void;
  onSecrets: (secrets: string[]) => void;
}

export function EndpointDialog({ dialog, endpoint, kinds, path, onClose, onSecrets }: DialogProps) {
  const t = useTexts(texts);
  const [url, setUrl] = useState(endpoint.url);
  const [events, setEvents] = useState(endpoint.events);
  switch (dialog) {
    case 'address':
      return (
        <Confirm
          title={t.changeAddress}
          says={t.changeAddressSays}
          verb={t.save}
          ready={url.trim() !== '' && url.trim() !== endpoint.url}
          run={() => send(`${path}/address`, { url: url.trim() })}
          onClose={onClose}
        >
          <EndpointUrl label={t.address} value={url} onChange={setUrl} />
        </Confirm>
      );
    case 'events':
      return (
        <Confirm
          title={t.events}
          says={endpoint.is_first ? t.firstEvents : endpoint.url}
          verb={t.save}
          ready={events.length > 0}
          run={() => send(`${path}/events`, { events })}
          onClose={onClose}
        >
          <CheckList label={t.events} options={kinds} chosen={events} onChange={setEvents} />
        </Confirm>
      );
    case 'rotate':
      return (
        <Confirm
          title={t.rotate}
          says={t.rotateSays}
          verb={t.rotate}
          run={() => send<Secrets>(`${path}/rotate`)}
          onClose={onClose}
          onDone={answer => onSecrets((answer as Secrets).secrets)}
        />
      );
    case 'remove':
      return (
        <Confirm
          title={t.remove}
          says={t.removeSays(endpoint.url)}
          verb={t.remove}
          danger
          run={() => send(`${path}/remove`)}
          onClose={onClose}
        />
      );
  }
}
