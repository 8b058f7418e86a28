import { Kbd, Modal } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { navigation } from './navigation.ts';
import { useShared } from './texts/index.ts';

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Moves the focus to the next or previous row. */
function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const here = rows.indexOf(document.activeElement as HTMLElement);
  rows[here < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, here + by))]?.focus();
}

/** The keyboard shortcuts and their list. Keys are recognized by position, so the layout does not matter. */
export function Keys() {
  const t = useShared();
  const [, go] = useLocation();
  const [shown, setShown] = useState(false);
  const wentAt = useRef(0);

  useEffect(() => {
    function press(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('[role=dialog]')) return;
      const place = navigation.find(one => `Key${one.key.toUpperCase()}` === event.code);
      if (Date.now() - wentAt.current < 1500 && place) {
        wentAt.current = 0;
        event.preventDefault();
        go(place.path);
      } else if (event.code === 'KeyG') wentAt.current = Date.now();
      else if (event.key === '?' || (event.code === 'Slash' && event.shiftKey)) setShown(true);
      else if (event.code === 'Slash') {
        event.preventDefault();
        document.querySelector<HTMLElement>('[data-search]')?.focus();
      } else if (event.code === 'KeyJ') moveRow(1);
      else if (event.code === 'KeyK') moveRow(-1);
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [go]);

  const others = [
    ['Ctrl', 'K', t.palette.title],
    ['/', '', t.keys.search],
    ['j', 'k', t.keys.rows],
    ['?', '', t.keys.help],
  ] as const;
  return (
    <Modal
      opened={shown}
      onClose={() => setShown(false)}
      title={t.keys.title}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <dl className="keys">
        {navigation.map(place => (
          <div key={place.name}>
            <dt>
              <Kbd>g</Kbd> {t.keys.andThen} <Kbd>{place.key}</Kbd>
            </dt>
            <dd>{t.keys.go(t.nav[place.name])}</dd>
          </div>
        ))}
        {others.map(([first, second, says]) => (
          <div key={first}>
            <dt>
              <Kbd>{first}</Kbd> {second && <Kbd>{second}</Kbd>}
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
