import { Button } from '@mantine/core';
import { useState } from 'react';
import { Route, Switch } from 'wouter';
import type { SessionRow } from '../../../src/console/shapes.ts';
import { send } from '../api.ts';
import { useMay } from '../parts/action.tsx';
import { Badge } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Loaded, PageFrame, Rows, useLive } from '../parts/page.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Ago, Time } from '../parts/values.tsx';
import { useTexts } from '../texts/index.ts';
import { Operators } from './settings/operators.tsx';
import { Service } from './settings/service.tsx';
import { texts } from './settings/texts.ts';

export default function Settings() {
  const t = useTexts(texts);
  return (
    <PageFrame title={t.nav.settings}>
      <Tabs
        label={t.parts}
        tabs={[
          ['/settings', t.service],
          ['/settings/operators', t.operators],
          ['/settings/sessions', t.sessions],
        ]}
      />
      <Switch>
        <Route path="/settings/operators" component={Operators} />
        <Route path="/settings/sessions" component={Sessions} />
        <Route component={Service} />
      </Switch>
    </PageFrame>
  );
}

/** The operator's own sessions; admins see all of them. */
export function Sessions() {
  const t = useTexts(texts);
  const seesAll = useMay()('operators.manage');
  const [ending, setEnding] = useState<SessionRow | null>(null);
  const list = useLive<{ data: SessionRow[] }>('/sessions', 5000);
  return (
    <>
      <p className="dim card-lead">{seesAll ? t.allSessions : t.ownSessions}</p>
      <Loaded of={list} />
      {list.data && (
        <Rows
          label={t.sessions}
          rows={list.data.data}
          keyOf={row => row.session_id}
          columns={[
            {
              head: t.operator,
              cell: row => (
                <span className="inline">
                  {row.operator}
                  {row.is_this_one && <Badge tone="open">{t.thisOne}</Badge>}
                </span>
              ),
            },
            { head: t.address, cell: row => <code>{row.address}</code> },
            { head: t.browser, cell: row => <span title={row.user_agent}>{browserOf(row.user_agent)}</span> },
            { head: t.lastSeen, cell: row => <Ago at={row.last_seen_at} /> },
            { head: t.startedAt, wideOnly: true, cell: row => <Time as="short" at={row.created_at} /> },
            { head: t.ends, wideOnly: true, cell: row => <Time as="short" at={row.ends_at} /> },
            {
              head: t.actions,
              right: true,
              cell: row => (
                <Button size="xs" variant="default" onClick={() => setEnding(row)}>
                  {t.revoke}
                </Button>
              ),
            },
          ]}
        />
      )}
      {ending && (
        <Confirm
          title={`${t.revoke}: ${ending.operator}, ${ending.address}`}
          says={ending.is_this_one ? t.revokeThis : t.revokeSays}
          verb={t.revoke}
          danger
          run={() => send(`/sessions/${ending.session_id}/revoke`)}
          onClose={() => setEnding(null)}
        />
      )}
    </>
  );
}

/** Enough to recognize a device; the complete text is in the title. */
function browserOf(userAgent: string): string {
  const browser = /(Firefox|Edg|OPR|YaBrowser|Chrome|Safari|HeadlessChrome)\/(\d+)/.exec(userAgent);
  const names: Record<string, string> = {
    Edg: 'Edge',
    OPR: 'Opera',
    YaBrowser: 'Yandex',
    HeadlessChrome: 'Chrome',
  };
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[1];
  if (!browser) return userAgent.slice(0, 40) || '—';
  return [`${names[browser[1]!] ?? browser[1]} ${browser[2]}`, system].filter(Boolean).join(', ');
}
