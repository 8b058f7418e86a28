import { Button, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { CheckResult, Secrets, WebhookPage } from '../../../../src/portal/shapes/webhook.ts';
import { send } from '../../api.ts';
import { Badge, State } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useNotify } from '../../parts/notify.ts';
import { Card, Facts, PageFrame } from '../../parts/page.tsx';
import { useLive } from '../../parts/polling.ts';
import { useRun } from '../../parts/run.ts';
import { Failure } from '../../parts/states.tsx';
import { Waiting } from '../../parts/table.tsx';
import { Duration, Time } from '../../parts/time.tsx';
import { useTexts, wordIn } from '../../texts/language.ts';
import { usePartner } from '../partner.ts';
import { ShowSecret } from '../parts.tsx';
import { usePortal } from '../texts/index.ts';
import { texts } from './webhook.texts.ts';

export default function Webhook() {
  const t = useTexts(texts);
  const portal = usePortal();
  const { api } = usePartner();
  const { data, error, refetch } = useLive<WebhookPage>(['webhook', api('')], api('/webhook'), 10_000);
  return (
    <PageFrame
      title={portal.nav.webhook}
      badge={data?.webhook && <State state={data.webhook.state} />}
      lead={t.lead}
      actions={<Link href="/deliveries">{t.log}</Link>}
    >
      {error && <Failure error={error} again={() => void refetch()} />}
      {!data && !error && <Waiting />}
      {data && <AddressCard key={data.webhook?.url} url={data.webhook?.url ?? ''} />}
      {data?.webhook && <StateCard webhook={data.webhook} />}
    </PageFrame>
  );
}

function AddressCard({ url }: { url: string }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const { pending, run } = useRun();
  const [typed, setTyped] = useState(url);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(() => send(api('/webhook'), { url: typed.trim() }), t.saved);
  };
  return (
    <Card>
      <form onSubmit={submit} className="filters">
        <TextInput
          className="filter-wide"
          label={t.address}
          placeholder="https://shop.example/webhooks/kopeck"
          inputMode="url"
          spellCheck={false}
          maxLength={2048}
          required
          withAsterisk={false}
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" loading={pending} disabled={typed.trim() === url}>
          {t.save}
        </Button>
      </form>
    </Card>
  );
}

type Set = NonNullable<WebhookPage['webhook']>;

function StateCard({ webhook }: { webhook: Set }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const { pending, run } = useRun();
  const notify = useNotify();
  const [secrets, setSecrets] = useState<string[] | null>(null);
  const [isRotating, setRotating] = useState(false);
  const [checked, setChecked] = useState<CheckResult | null>(null);
  const hasRefunds = webhook.extra_events.length > 0;
  const show = () =>
    void send<Secrets>(api('/webhook/secret')).then(found => setSecrets(found.secrets), notify.failed);
  const check = () => run(async () => setChecked(await send<CheckResult>(api('/webhook/check'))), t.checked);
  return (
    <>
      {webhook.state === 'suspended' && <div className="banner">{t.suspended}</div>}
      <Card>
        <Facts
          facts={[
            [t.waiting, webhook.waiting],
            [t.givenUp, webhook.given_up],
            [t.refunds, hasRefunds ? t.on : t.off],
            ...(webhook.old_secret_until
              ? [[t.oldSecret, <Time key="until" at={webhook.old_secret_until} />] as [string, ReactNode]]
              : []),
          ]}
        />
        <div className="portal-actions">
          <Button size="xs" loading={pending} onClick={check}>
            {t.check}
          </Button>
          <Button size="xs" variant="default" onClick={show}>
            {t.secret}
          </Button>
          <Button size="xs" variant="default" onClick={() => setRotating(true)}>
            {t.rotate}
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={pending}
            onClick={() => run(() => send(api('/webhook/events'), { refunds: !hasRefunds }))}
          >
            {hasRefunds ? t.withoutRefunds : t.withRefunds}
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
      {isRotating && (
        <Confirm
          title={t.rotate}
          says={t.rotateSays}
          verb={t.rotate}
          run={() => send<Secrets>(api('/webhook/rotate'))}
          onClose={() => setRotating(false)}
          onDone={answer => setSecrets((answer as Secrets).secrets)}
        />
      )}
    </>
  );
}

function CheckCard({ result }: { result: CheckResult }) {
  const t = useTexts(texts);
  return (
    <Card title={t.checkTitle}>
      <p>{result.passed ? t.passed : result.can_receive ? t.canReceive : t.cannotReceive}</p>
      {result.re_enabled && <p>{t.reEnabled}</p>}
      <ul className="portal-notices">
        {result.results.map(({ name, passed, answered, duration_ms }) => (
          <li key={name} className="between">
            <span>
              <Badge tone={passed ? 'good' : 'bad'}>{answered}</Badge> {wordIn(t.checks, name)}
            </span>
            <span className="dim">
              <Duration ms={duration_ms} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
