import { useState } from 'react';
import { Link } from 'wouter';
import type { PartnerDetail, PartnerRow } from '../../../../src/console/shapes.ts';
import type { Mode } from '../../../../src/web/shapes.ts';
import { query, send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Badge, State } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Download } from '../../parts/download.tsx';
import { DayInput, ModeChoice } from '../../parts/fields.tsx';
import { Card, Empty, Loaded, PageFrame, Rows, useLive } from '../../parts/page.tsx';
import { RequestCard } from '../../parts/request.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Copyable, dayOf, Time } from '../../parts/values.tsx';
import { useTexts } from '../../texts/index.ts';
import { Balances } from './balances.tsx';
import { ContactsCard } from './contacts.tsx';
import { KeysCard } from './keys.tsx';
import { LimitsCard } from './limits.tsx';
import { texts } from './texts.ts';
import { Webhook } from './webhook.tsx';

type Decision = 'approve' | 'refuse' | 'suspend' | 'resume';

export function OnePartner({ partnerId, part }: { partnerId: string; part: string | undefined }) {
  const t = useTexts(texts);
  const read = useLive<PartnerDetail>(`/partners/${partnerId}`, 5000);
  const detail = read.data;
  if (!detail)
    return (
      <PageFrame title={t.nav.partners}>
        <Loaded of={read} />
      </PageFrame>
    );
  const { partner, requests } = detail;
  return (
    <PageFrame
      title={partner.name}
      badge={
        <>
          <State state={partner.state} />
          <Live live={partner.live} />
        </>
      }
      lead={
        <>
          <Copyable text={partner.partner_id} /> · {t.since.toLowerCase()} <Time at={partner.created_at} />
          <span className="links">
            <Link href={`/payments${query({ partner_id: partner.partner_id })}`}>{t.nav.payments}</Link>
            <Link href={`/deliveries${query({ partner_id: partner.partner_id })}`}>{t.nav.deliveries}</Link>
            <Link href={`/request-log${query({ partner: partner.partner_id })}`}>{t.nav.requestLog}</Link>
            <Link href={`/audit${query({ subject: partner.partner_id })}`}>{t.nav.audit}</Link>
          </span>
        </>
      }
      actions={<Decisions partner={partner} />}
    >
      <Loaded of={read} />
      <Tabs
        label={t.parts}
        tabs={[
          [`/partners/${partnerId}`, t.moneyAndLimits],
          [`/partners/${partnerId}/keys`, t.keysAndMembers],
          [`/partners/${partnerId}/webhook`, t.webhook],
        ]}
      />
      <div className="stack">
        {part === 'keys' && (
          <>
            <KeysCard keys={detail.keys} />
            <Members members={detail.members} />
          </>
        )}
        {part === 'webhook' && (
          <Webhook partnerId={partnerId} endpoints={detail.endpoints} kinds={detail.event_kinds} />
        )}
        {part === undefined && (
          <>
            {requests.map(request => (
              <RequestCard key={request.request_id} request={request} />
            ))}
            <Balances detail={detail} />
            <ContactsCard partnerId={partnerId} contacts={detail.contacts} />
            <LimitsCard partnerId={partnerId} limits={detail.limits} />
            <StatementCard partnerId={partnerId} />
          </>
        )}
      </div>
    </PageFrame>
  );
}

function Live({ live }: { live: PartnerRow['live'] }) {
  const t = useTexts(texts);
  if (live === 'approved') return <Badge tone="good">{t.liveApproved}</Badge>;
  return live === 'asked' ? (
    <Badge tone="warn">{t.liveAsked}</Badge>
  ) : (
    <Badge tone="plain">{t.liveNotApproved}</Badge>
  );
}

/** The actions on a partner as a whole. */
function Decisions({ partner }: { partner: PartnerRow }) {
  const t = useTexts(texts);
  const [deciding, setDeciding] = useState<Decision | null>(null);
  const isActive = partner.state === 'active';
  const offered = [
    {
      decision: 'approve',
      needs: 'partners.approve',
      variant: 'filled',
      isOpen: partner.live !== 'approved',
    },
    { decision: 'refuse', needs: 'partners.approve', variant: 'default', isOpen: partner.live === 'asked' },
    { decision: 'suspend', needs: 'partners.suspend', variant: 'default', isOpen: isActive },
    { decision: 'resume', needs: 'partners.suspend', variant: 'filled', isOpen: !isActive },
  ] as const;
  return (
    <>
      {offered
        .filter(({ isOpen }) => isOpen)
        .map(({ decision, needs, variant }) => (
          <Action key={decision} needs={needs} variant={variant} onClick={() => setDeciding(decision)}>
            {t.decisions[decision]}
          </Action>
        ))}
      {deciding && (
        <Confirm
          title={`${t.decisions[deciding]}: ${partner.name}`}
          says={t.decisionSays[deciding]}
          verb={t.decisions[deciding]}
          danger={deciding === 'suspend'}
          withReason={deciding === 'suspend'}
          run={reason => send(`/partners/${partner.partner_id}/${deciding}`, reason ? { reason } : {})}
          onClose={() => setDeciding(null)}
        />
      )}
    </>
  );
}

export function Members({ members }: Pick<PartnerDetail, 'members'>) {
  const t = useTexts(texts);
  return (
    <Card title={t.members}>
      <Rows
        label={t.members}
        rows={members}
        keyOf={member => member.name + member.joined_at}
        empty={<Empty title={t.noMembers}>{t.noMembersHint}</Empty>}
        columns={[
          { head: t.memberName, cell: member => member.name },
          { head: t.role, cell: member => t.memberRoles[member.role] },
          { head: t.joined, cell: member => <Time as="short" at={member.joined_at} /> },
        ]}
      />
    </Card>
  );
}

/** The statement of one UTC day. */
export function StatementCard({ partnerId }: { partnerId: string }) {
  const t = useTexts(texts);
  const [mode, setMode] = useState<Mode>('live');
  const [day, setDay] = useState(() => dayOf(Date.now() - 86_400_000));
  const today = dayOf(Date.now());
  const isWrong = !/^\d{4}-\d\d-\d\d$/.test(day) || day > today;
  const path = (format: 'csv' | 'json') => `/partners/${partnerId}/statement${query({ mode, day, format })}`;
  return (
    <Card title={t.statement}>
      <p className="dim card-lead">{t.statementSays}</p>
      <div className="filters">
        <DayInput label={t.day} value={day} error={isWrong && t.notADay} onChange={setDay} />
        <ModeChoice value={mode} onChange={setMode} />
        <Download path={path('csv')} label={t.csv} size="sm" disabled={isWrong} />
        <Download path={path('json')} label={t.json} size="sm" disabled={isWrong} />
      </div>
      {day === today && <p className="dim">{t.dayOpen}</p>}
    </Card>
  );
}
