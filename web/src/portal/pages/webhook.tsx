import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type {
  CheckResult,
  EndpointRow,
  Secrets,
  WebhookPage,
} from '../../../../src/portal/shapes/webhook.ts';
import { send } from '../../api.ts';
import { State } from '../../parts/badge.tsx';
import { useNotify, useRun } from '../../parts/notify.ts';
import { Card, Empty, Facts, Loaded, PageFrame, useLive } from '../../parts/page.tsx';
import { Time } from '../../parts/values.tsx';
import { useTexts } from '../../texts/language.ts';
import { usePartner } from '../partner.ts';
import { ShowSecret } from '../parts.tsx';
import { usePortal } from '../texts/index.ts';
import { texts } from './webhook.texts.ts';
import { CheckCard } from './webhook-check.tsx';
import { AddDialog, type Dialog, EndpointDialog } from './webhook-dialogs.tsx';

export default function Webhook() {
  const t = useTexts(texts);
  const portal = usePortal();
  const { api } = usePartner();
  const [isAdding, setAdding] = useState(false);
  const read = useLive<WebhookPage>(['webhook', api('')], api('/webhook'), 10_000);
  const { data } = read;
  return (
    <PageFrame
      title={portal.nav.webhook}
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
  const portal = usePortal();
  const { api } = usePartner();
  const { pending, run } = useRun();
  const notify = useNotify();
  const [secrets, setSecrets] = useState<string[] | null>(null);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [checked, setChecked] = useState<CheckResult | null>(null);
  const path = api(`/webhook/${endpoint.endpoint_id}`);
  const show = () =>
    void send<Secrets>(`${path}/secret`).then(found => setSecrets(found.secrets), notify.failed);
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
            [portal.mode, endpoint.mode ? portal[endpoint.mode] : t.bothModes],
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
          <Button size="xs" variant="default" onClick={() => setDialog('address')}>
            {t.changeAddress}
          </Button>
          <Button size="xs" variant="default" onClick={() => setDialog('events')}>
            {t.events}
          </Button>
          <Button size="xs" variant="default" onClick={show}>
            {t.secret}
          </Button>
          <Button size="xs" variant="default" onClick={() => setDialog('rotate')}>
            {t.rotate}
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={pending}
            onClick={() => run(() => send(`${path}/ed25519`, { is_on: !endpoint.has_ed25519 }))}
          >
            {endpoint.has_ed25519 ? t.withoutEd25519 : t.withEd25519}
          </Button>
          <Button size="xs" variant="default" onClick={() => setDialog('remove')}>
            {t.remove}
          </Button>
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
  const portal = usePortal();
  const [live, test] = paths;
  return (
    <span className="portal-actions">
      <a href={live}>{portal.live}</a>
      <a href={test}>{portal.test}</a>
    </span>
  );
}
