import { Link, useLocation } from 'wouter';
import type { EntryRow, PartnerDetail } from '../../../../src/console/shapes.ts';
import type { Mode } from '../../../../src/web/shapes.ts';
import { query } from '../../api.ts';
import { ModeChoice } from '../../parts/fields.tsx';
import { Empty, KeysetTable, PageFrame, useOnce } from '../../parts/page.tsx';
import { IdLink, Time, Usdt } from '../../parts/values.tsx';
import { useServerText, useTexts, wordIn } from '../../texts/index.ts';
import { texts } from './texts.ts';

/** Every movement of one partner's money in one mode, the newest first. */
export function Entries({ partnerId, mode }: { partnerId: string; mode: Mode }) {
  const t = useTexts(texts);
  const [, go] = useLocation();
  const name = useOnce<PartnerDetail>(`/partners/${partnerId}`).data?.partner.name;
  return (
    <PageFrame
      title={`${t.entries}: ${name ?? partnerId}`}
      lead={
        <>
          <Link href="/ledger">{t.allAccounts}</Link> ·{' '}
          <Link href={`/partners/${partnerId}`}>{t.toPartner}</Link>
        </>
      }
      actions={<ModeChoice value={mode} onChange={chosen => go(`/ledger/${partnerId}/${chosen}`)} />}
    >
      <KeysetTable<EntryRow>
        label={t.entries}
        path={`/ledger/entries${query({ partner_id: partnerId, mode })}`}
        everyMs={5000}
        keyOf={row => row.entry_no}
        empty={<Empty title={t.noEntries} />}
        columns={[
          { head: t.number, right: true, cell: row => <span className="number">{row.entry_no}</span> },
          { head: t.at, cell: row => <Time as="short" at={row.at} /> },
          { head: t.kind, cell: row => t.kinds[row.kind] },
          {
            head: t.fromTo,
            cell: row => (
              <span className="dim">
                {wordIn(t.names, row.from)} → {wordIn(t.names, row.to)}
              </span>
            ),
          },
          { head: t.amount, right: true, cell: row => <Usdt bare amount={row.amount_usdt} /> },
          {
            head: t.availableAfter,
            right: true,
            cell: row => <Usdt bare amount={row.available_after_usdt} />,
          },
          { head: t.reference, cell: row => <BelongsTo entry={row} /> },
        ]}
      />
    </PageFrame>
  );
}

function BelongsTo({ entry: { payment_id, reference } }: { entry: EntryRow }) {
  const serverText = useServerText();
  if (payment_id) return <IdLink id={payment_id} />;
  if (reference?.startsWith('kopeck: ')) return <span>{serverText(reference)}</span>;
  return <span className="wrap-anywhere">{reference ?? '—'}</span>;
}
