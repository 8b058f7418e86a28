import { Modal, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useId, useState } from 'react';
import { useLocation } from 'wouter';
import type { PartnerRow, PaymentRow } from '../../src/console/shapes.ts';
import type { Page } from '../../src/web/shapes.ts';
import { ask, query } from './api.ts';
import { navigation } from './navigation.ts';
import { Icon } from './parts/icon.tsx';
import { shortId } from './parts/values.tsx';
import { useShared } from './texts/index.ts';

/** Something that the palette can open. */
interface Target {
  path: string;
  text: string;
  /** What differs where texts are alike. */
  more: string;
  icon: Parameters<typeof Icon>[0]['name'];
}

/** Ids with a page of their own, by their beginning; nothing is asked of the server for them. */
const pagesOfIds = [
  { begin: 'pay_', icon: 'payments', pathOf: (id: string) => `/payments/${id}` },
  { begin: 'prt_', icon: 'partners', pathOf: (id: string) => `/partners/${id}` },
  { begin: 'req_', icon: 'requestLog', pathOf: (id: string) => `/request-log?request_id=${id}` },
] as const;

const maxFound = 5;

/** Ctrl-K or Cmd-K: jumps to a page, a partner, a payment or a request. Keys are recognized by position, as for shortcuts. */
export function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    function press(event: KeyboardEvent) {
      if (event.code !== 'KeyK' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      if (!document.querySelector('[role=dialog]')) setOpen(true);
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  const t = useShared();
  return (
    <Modal
      opened={isOpen}
      onClose={() => setOpen(false)}
      title={t.palette.title}
      closeButtonProps={{ 'aria-label': t.close }}
      transitionProps={{ duration: 0 }}
    >
      <Finder onClose={() => setOpen(false)} />
    </Modal>
  );
}

function Finder({ onClose }: { onClose: () => void }) {
  const t = useShared();
  const [, go] = useLocation();
  const listId = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const targets = useTargets(text.trim());
  const active = Math.min(at, targets.length - 1);

  function open(target: Target | undefined) {
    if (!target) return;
    onClose();
    go(target.path);
  }

  function press(event: ReactKeyboardEvent) {
    const moves: Record<string, number> = {
      ArrowDown: (active + 1) % targets.length,
      ArrowUp: (active - 1 + targets.length) % targets.length,
    };
    const move = moves[event.key];
    if (event.key === 'Enter') open(targets[active]);
    else if (move !== undefined && targets.length > 0) setAt(move);
    else return;
    event.preventDefault();
  }

  return (
    <>
      <TextInput
        role="combobox"
        aria-label={t.palette.title}
        aria-expanded={targets.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={targets.length > 0 ? `${listId}-${active}` : undefined}
        placeholder={t.palette.hint}
        leftSection={<Icon name="search" />}
        value={text}
        onChange={event => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
        maxLength={200}
        data-autofocus
      />
      <div id={listId} role="listbox" aria-label={t.palette.title} className="palette">
        {targets.map((target, index) => (
          // The combobox has the focus and handles the keys of its options.
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          // biome-ignore lint/a11y/useKeyWithClickEvents: see above
          <div
            key={`${target.path} ${target.text}`}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === active}
            onClick={() => open(target)}
          >
            <Icon name={target.icon} />
            <span className="wrap-anywhere">{target.text}</span>
            <span className="dim wrap-anywhere">{target.more}</span>
          </div>
        ))}
      </div>
      <p className="unseen" role="status">
        {t.palette.found(targets.length)}
      </p>
    </>
  );
}

function useTargets(text: string): Target[] {
  const t = useShared();
  const [sought] = useDebouncedValue(text, 150);
  const { data: found = [] } = useQuery({
    queryKey: ['palette', sought],
    queryFn: ({ signal }) => find(sought, signal),
    enabled: sought.length > 1,
    placeholderData: keepPreviousData,
  });
  const wanted = text.toLowerCase();
  const pages = navigation
    .filter(({ name }) => t.nav[name].toLowerCase().includes(wanted))
    .map(({ name, path }) => ({ path, text: t.nav[name], more: '', icon: name }));
  if (text === '') return pages;
  const byId = pagesOfIds
    .filter(({ begin }) => text.startsWith(begin) && text.length > begin.length)
    .map(({ icon, pathOf }) => ({ path: pathOf(encodeURIComponent(text)), text, more: '', icon }));
  const everywhere: Target = {
    path: `/payments${query({ q: text })}`,
    text: t.palette.searchPayments(text),
    more: '',
    icon: 'search',
  };
  return [...byId, ...pages, ...(text.length > 1 && byId.length === 0 ? found : []), everywhere];
}

async function find(text: string, signal: AbortSignal): Promise<Target[]> {
  const [partners, payments] = await Promise.all([
    ask<Page<PartnerRow>>(`/partners${query({ q: text, limit: maxFound })}`, signal),
    ask<Page<PaymentRow>>(`/payments${query({ external_id: text, limit: maxFound })}`, signal),
  ]);
  return [
    ...partners.data.map(({ partner_id, name }) => ({
      path: `/partners/${partner_id}`,
      text: name,
      more: shortId(partner_id),
      icon: 'partners' as const,
    })),
    ...payments.data.map(({ payment_id, external_id, partner }) => ({
      path: `/payments/${payment_id}`,
      text: external_id ?? payment_id,
      more: `${partner} · ${shortId(payment_id)}`,
      icon: 'payments' as const,
    })),
  ];
}
