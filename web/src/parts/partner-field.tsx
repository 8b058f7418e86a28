import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { PartnerRow } from '../../../src/console/shapes.ts';
import type { Page } from '../../../src/web/shapes.ts';
import { ask, query } from '../api.ts';
import { useShared } from '../texts/index.ts';
import { TextField } from './fields.tsx';
import { shortId } from './values.tsx';

/** Partners may have the same name, so the end of the id stands beside it. */
const labelOf = ({ name, partner_id }: PartnerRow) => `${name} (${shortId(partner_id)})`;

const usePartners = (text: string) =>
  useQuery({
    queryKey: ['partner names', text],
    queryFn: ({ signal }) => ask<Page<PartnerRow>>(`/partners${query({ q: text, limit: 20 })}`, signal),
    enabled: text !== '',
    staleTime: 60_000,
  }).data?.data ?? [];

interface FieldProps {
  partnerId: string;
  onChoose: (partnerId: string) => void;
}

/** Chooses a partner by a part of its name or by its id; empty for any partner. */
export function PartnerField({ partnerId, onChoose }: FieldProps) {
  const t = useShared();
  const listId = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const [sought] = useDebouncedValue(typed?.trim() ?? '', 200);
  const found = usePartners(sought);
  const [chosen] = usePartners(partnerId);
  const shown = typed ?? (chosen ? labelOf(chosen) : partnerId);

  function change(text: string) {
    const partner = found.find(one => labelOf(one) === text || one.partner_id === text.trim());
    setTyped(partner ? null : text);
    if (partner) onChoose(partner.partner_id);
    else if (text === '') onChoose('');
  }

  return (
    <>
      <TextField
        label={t.partner}
        placeholder={t.partnerHint}
        list={listId}
        value={shown}
        onChange={change}
        onBlur={() => setTyped(null)}
      />
      <datalist id={listId}>
        {found.map(partner => (
          <option key={partner.partner_id} value={labelOf(partner)} />
        ))}
      </datalist>
    </>
  );
}
