import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Choice } from '../parts/fields.tsx';
import { PageFrame } from '../parts/page.tsx';
import { AccountMenu, isAt, PlaceList, Shell } from '../parts/shell.tsx';
import { zoneName } from '../parts/zone.ts';
import { chooseMode, useMode, usePartner, usePerson } from './partner.ts';
import { useWhyNot } from './parts.tsx';
import { Support } from './support.tsx';
import { usePortal } from './texts/index.ts';

/** The pages, in the order of the menu. */
const places = [
  { name: 'overview', path: '/', icon: 'overview', needs: 'money' },
  { name: 'payments', path: '/payments', icon: 'payments', needs: 'money' },
  { name: 'balance', path: '/balance', icon: 'deposits', needs: 'money' },
  { name: 'statements', path: '/statements', icon: 'ledger', needs: 'money' },
  { name: 'rate', path: '/rate', icon: 'rates', needs: 'money' },
  { name: 'qr', path: '/qr', icon: 'qr', needs: 'follow' },
  { name: 'keys', path: '/keys', icon: 'key', needs: 'integrate' },
  // The log of the webhook is a part of it.
  { name: 'webhook', path: '/webhook', icon: 'deliveries', needs: 'integrate', with: '/deliveries' },
  { name: 'requests', path: '/requests', icon: 'requestLog', needs: 'integrate' },
  { name: 'team', path: '/team', icon: 'team', needs: 'money' },
  { name: 'settings', path: '/settings', icon: 'settings', needs: 'money' },
] as const;

/** The frame of every page: navigation, partner, mode, account. Who opens a page that is not for their role reads whose it is. */
export function Layout({ children }: { children: ReactNode }) {
  const t = usePortal();
  const { partner, may } = usePartner();
  const whyNot = useWhyNot();
  const [now] = useLocation();
  const closed = places.find(place => isAt(place, now) && !may(place.needs));
  return (
    <Shell
      middle={
        <div className="search portal-choices">
          <ModeChoice />
        </div>
      }
      account={<Account />}
      side={
        <>
          <PartnerChooser />
          <PlaceList
            places={places
              .filter(({ needs }) => may(needs))
              .map(place => ({ ...place, text: t.nav[place.name] }))}
          />
          <p className="dim portal-zone">
            {t.timeZone(`${partner.time_zone} (${zoneName(partner.time_zone)})`)}
          </p>
          <a className="side-link portal-docs" href={t.documentationPath}>
            {t.documentation}
          </a>
          <a className="side-link portal-docs" href={t.statusPath}>
            {t.serviceStatus}
          </a>
        </>
      }
    >
      {partner.is_suspended && (
        <div className="banner">
          {t.suspended} <Support otherwise={t.suspendedOtherwise} />
        </div>
      )}
      {closed ? <PageFrame title={t.nav[closed.name]}>{whyNot(closed.needs)}</PageFrame> : children}
    </Shell>
  );
}

function ModeChoice() {
  const t = usePortal();
  return (
    <Choice
      label={t.mode}
      value={useMode()}
      options={[
        ['live', t.live],
        ['test', t.test],
      ]}
      onChange={chooseMode}
    />
  );
}

/** One partner of several; with one there is nothing to choose. */
function PartnerChooser() {
  const t = usePortal();
  const { partners } = usePerson();
  const { partner } = usePartner();
  const [, go] = useLocation();
  if (partners.length === 1) return <p className="portal-partner">{partner.name}</p>;
  return (
    <NativeSelect
      className="portal-partner"
      aria-label={t.partner}
      value={partner.partner_id}
      onChange={text => go(`~/portal/${text}/`)}
      data={partners.map(({ partner_id, name }) => ({ value: partner_id, label: name }))}
    />
  );
}

function Account() {
  const t = usePortal();
  const { name } = usePerson().person;
  const { role } = usePartner().partner;
  return (
    <AccountMenu name={name} role={t.memberRoles[role]} title={name} link={['/settings', t.nav.settings]} />
  );
}
