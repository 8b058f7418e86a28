import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { Route, Switch, useLocation, useSearchParams } from 'wouter';
import type { PartnerRow } from '../../../src/console/shapes.ts';
import { query, send } from '../api.ts';
import { Action } from '../parts/action.tsx';
import { State } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { SearchField, TextField } from '../parts/fields.tsx';
import { Empty, KeysetTable, PageFrame } from '../parts/page.tsx';
import { Time, Usdt } from '../parts/values.tsx';
import { useTexts } from '../texts/index.ts';
import { OnePartner } from './partners/partner.tsx';
import { texts } from './partners/texts.ts';

export default function Partners() {
  return (
    <Switch>
      <Route path="/partners" component={PartnerList} />
      <Route path="/partners/:id/:part?">
        {({ id, part }) => <OnePartner key={id} partnerId={id} part={part} />}
      </Route>
    </Switch>
  );
}

export function PartnerList() {
  const t = useTexts(texts);
  const [params, setParams] = useSearchParams();
  const asked = params.get('q') ?? '';
  const [creating, setCreating] = useState(false);
  const search = useDebouncedCallback((text: string) => {
    setParams(text.trim() ? { q: text.trim() } : {}, { replace: true });
  }, 250);
  return (
    <PageFrame
      title={t.nav.partners}
      actions={
        <Action needs="partners.create" variant="filled" onClick={() => setCreating(true)}>
          {t.create}
        </Action>
      }
    >
      <search className="filters">
        <SearchField
          className="filter-wide"
          aria-label={t.search}
          placeholder={t.partnerHint}
          defaultValue={asked}
          onChange={search}
        />
      </search>
      <KeysetTable<PartnerRow>
        label={t.nav.partners}
        path={`/partners${query({ q: asked })}`}
        everyMs={10_000}
        keyOf={row => row.partner_id}
        hrefOf={row => `/partners/${row.partner_id}`}
        empty={<Empty title={asked ? t.noneFound : t.none}>{asked ? t.noneFoundHint : t.noneHint}</Empty>}
        columns={[
          { head: t.name, cell: row => row.name },
          { head: t.state, cell: row => <State state={row.state} /> },
          { head: t.live, cell: row => <State state={row.live} /> },
          { head: t.webhook, cell: row => <State state={row.webhook_state} /> },
          {
            head: t.available,
            right: true,
            cell: row => <Usdt bare amount={row.live_balance.available_usdt} />,
          },
          { head: t.held, right: true, cell: row => <Usdt bare amount={row.live_balance.held_usdt} /> },
          { head: t.since, wideOnly: true, cell: row => <Time as="short" at={row.created_at} /> },
        ]}
      />
      {creating && <Create onClose={() => setCreating(false)} />}
    </PageFrame>
  );
}

function Create({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const [, go] = useLocation();
  const [name, setName] = useState('');
  return (
    <Confirm
      title={t.create}
      says={t.createSays}
      verb={t.createVerb}
      ready={name.trim().length > 0}
      run={() => send<PartnerRow>('/partners', { name: name.trim() })}
      onDone={made => go(`/partners/${(made as PartnerRow).partner_id}`)}
      onClose={onClose}
    >
      <TextField label={t.name} required maxLength={128} value={name} onChange={setName} data-autofocus />
    </Confirm>
  );
}
