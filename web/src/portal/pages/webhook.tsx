import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { EndpointRow, Secrets, WebhookPage } from '../../../../src/portal/shapes.ts';
import type { CheckResult } from '../../../../src/web/shapes.ts';
import { send } from '../../api.ts';
import { Badge, State } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CheckList, EndpointUrl, SelectField } from '../../parts/fields.tsx';
import { useNotify, useRun } from '../../parts/notify.ts';
import { Card, Empty, Facts, Loaded, PageFrame, useLive } from '../../parts/page.tsx';
import { Duration, Time } from '../../parts/values.tsx';
import { useCheckTexts } from '../../texts/check.ts';
import { useMode, usePartner } from '../partner.ts';
import { ShowSecret } from '../parts.tsx';
import { useTexts, wordIn } from '../texts/index.ts';
import { texts } from './webhook.texts.ts';

export default function Webhook() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const [isAdding, setAdding] = useState(false);
  const read = useLive<WebhookPage>(api('/webhook'), 10_000);
  const { data } = read;
  return (
    <PageFrame
      title={t.nav.webhook}
      lead={t.lead}
      actions={
        <span className="portal-actions">
          <Button size="xs" onClick={() => setAdding(true)} disabled={!data}>
            {t.add}
          </Button>
          <Link href="/deliveries">{t.log}</Link>
        </span>
      }
    >
      <Loaded of={read} />
      {data?.endpoints.length === 0 && <Empty title={t.noEndpoint}>{t.noEndpointHint}</Empty>}
      {data?.endpoints.map(endpoint => (
        <Endpoint key={endpoint.endpoint_id} endpoint={endpoint} kinds={data.event_kinds} />
      ))}
      {isAdding && data && <AddDialog page={data} onClose={() => setAdding(false)} />}
    </PageFrame>
  );
}

function Endpoint({ endpoint, kinds }: { endpoint: EndpointRow; kinds: string[] }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const { pending, run } = useRun();
  const notify = useNotify();
  const [secrets, setSecrets] = useState<string[] | null>(null);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [checked, setChecked] = useState<CheckResult | null>(null);
  const path = api(`/webhook/${endpoint.endpoint_id}`);
  const show = () =>
    void send<Secrets>(`${path}/secret`).then(found => setSecrets(found.secrets), notify.failed);
  const switchEd25519 = () => run(() => send(`${path}/ed25519`, { is_on: !endpoint.has_ed25519 }));
  const button = (text: string, onClick: () => void, disabled = false) => (
    <Button size="xs" variant="default" disabled={disabled} onClick={onClick}>
      {text}
    </Button>
  );
  const check = () => run(async () => setChecked(await send<CheckResult>(`${path}/check`)), t.checked);
  return (
    <>
      <Card>
        <div className="between card-head">
          <h2 className="wrap-anywhere">{endpoint.url}</h2>
          <State state={endpoint.state} />
        </div>
        {endpoint.state === 'suspended' && <div className="banner">{t.suspended}</div>}
        <Facts
          facts={[
            [t.mode, endpoint.mode ? t[endpoint.mode] : t.bothModes],
            [t.events, endpoint.events.join(', ')],
            [t.waiting, endpoint.waiting],
            [t.givenUp, endpoint.given_up],
            endpoint.has_ed25519 && [t.publicKeys, <PublicKeys key="keys" paths={endpoint.public_keys} />],
            endpoint.old_secret_until && [t.oldSecret, <Time key="until" at={endpoint.old_secret_until} />],
          ]}
        />
        <div className="portal-actions">
          <Button size="xs" loading={pending} onClick={check}>
            {t.check}
          </Button>
          {button(t.changeAddress, () => setDialog('address'))}
          {button(t.events, () => setDialog('events'))}
          {button(t.secret, show)}
          {button(t.rotate, () => setDialog('rotate'))}
          {button(endpoint.has_ed25519 ? t.withoutEd25519 : t.withEd25519, switchEd25519, pending)}
          {button(t.remove, () => setDialog('remove'))}
        </div>
      </Card>
      {checked && <CheckCard result={checked} />}
      {secrets && (
        <ShowSecret
          title={t.secret}
          secrets={secrets}
          says={secrets.length > 1 ? t.twoSecrets : t.secretSays}
          onClose={() => setSecrets(null)}
        />
      )}
      {dialog && (
        <EndpointDialog
          dialog={dialog}
          endpoint={endpoint}
          kinds={kinds}
          path={path}
          onClose={() => setDialog(null)}
          onSecrets={setSecrets}
        />
      )}
    </>
  );
}

/** The keys of live mode, then of test mode; anybody can read them. */
function PublicKeys({ paths }: { paths: string[] }) {
  const t = useTexts(texts);
  const [live, test] = paths;
  return (
    <span className="portal-actions">
      <a href={live}>{t.live}</a>
      <a href={test}>{t.test}</a>
    </span>
  );
}

export type Dialog = 'address' | 'events' | 'rotate' | 'remove';

/** The first endpoint gets both modes and all events of the contract; the others what they ask for. */
export function AddDialog({ page, onClose }: { page: WebhookPage; onClose: () => void }) {
  const t = useTexts(texts);
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
      <EndpointUrl label="URL" value={url} onChange={setUrl} />
      {!isFirst && (
        <>
          <SelectField
            label={t.mode}
            value={mode}
            onChange={setMode}
            words={{ live: t.live, test: t.test }}
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
  const [events, setEvents] = useState<string[]>(endpoint.events);
  const dialogs = {
    address: {
      title: t.changeAddress,
      says: t.changeAddressSays,
      body: { url: url.trim() },
      ready: url.trim() !== '' && url.trim() !== endpoint.url,
    },
    events: {
      title: t.events,
      says: endpoint.is_first ? t.firstEvents : endpoint.url,
      body: { events },
      ready: events.length > 0,
    },
    rotate: { title: t.rotate, says: t.rotateSays, body: {}, ready: true },
    remove: { title: t.remove, says: t.removeSays(endpoint.url), body: {}, ready: true },
  };
  const { title, says, body, ready } = dialogs[dialog];
  return (
    <Confirm
      title={title}
      says={says}
      verb={dialog === 'address' || dialog === 'events' ? t.save : title}
      danger={dialog === 'remove'}
      ready={ready}
      run={() => send(`${path}/${dialog}`, body)}
      onClose={onClose}
      onDone={answer => dialog === 'rotate' && onSecrets((answer as Secrets).secrets)}
    >
      {dialog === 'address' && <EndpointUrl label="URL" value={url} onChange={setUrl} />}
      {dialog === 'events' && (
        <CheckList label={t.events} options={kinds} chosen={events} onChange={setEvents} />
      )}
    </Confirm>
  );
}

export function CheckCard({ result }: { result: CheckResult }) {
  const t = useTexts(texts);
  const { answerOf, problemOf } = useCheckTexts();
  return (
    <Card title={t.checkTitle}>
      <p>{result.passed ? t.passed : result.can_receive ? t.canReceive : t.cannotReceive}</p>
      {result.re_enabled && <p>{t.reEnabled}</p>}
      <ul className="portal-notices">
        {result.results.map(one => (
          <li key={one.name} className="between">
            <span>
              <Badge tone={one.passed ? 'good' : 'bad'}>{answerOf(one)}</Badge>{' '}
              {problemOf(one) ?? wordIn(t.checks, one.name)}
            </span>
            <span className="dim">
              <Duration ms={one.duration_ms} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
