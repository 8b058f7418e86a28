import { Button, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { MemberRight } from '../../../src/portal/shapes.ts';
import { type ButtonProps, HintButton } from '../parts/fields.tsx';
import { Copyable } from '../parts/values.tsx';
import { wallClockIn, zoneName } from '../parts/zone.ts';
import { useZone } from '../parts/zone-context.ts';
import { usePartner } from './partner.ts';
import { inBoth, usePortal, useTexts } from './texts/index.ts';

const texts = inBoth({
  needs: {
    money: ['You are not in the team', 'Вы не в команде'],
    follow: [
      'Required role: viewer, payer, developer or owner',
      'Нужна роль: наблюдатель, плательщик, разработчик или владелец',
    ],
    pay: ['Required role: payer or owner', 'Нужна роль: плательщик или владелец'],
    integrate: ['Required role: developer or owner', 'Нужна роль: разработчик или владелец'],
    own: ['Required role: owner', 'Нужна роль: владелец'],
  } satisfies Record<MemberRight, readonly [string, string]>,
  once: [
    'You will not see it again. Copy it now and keep it like a password.',
    'Больше мы его не покажем. Скопируйте его сейчас и храните как пароль.',
  ],
});

/** A button of a page, for members with the right. */
export function Action({
  needs,
  why,
  ...props
}: ButtonProps & { needs: MemberRight; why?: string | undefined }) {
  return <HintButton {...props} hint={useWhyNot()(needs) ?? why} />;
}

/** Whose role a right belongs to; undefined if the reader has it. */
export function useWhyNot() {
  const t = useTexts(texts);
  const { may } = usePartner();
  return (needs: MemberRight) => (may(needs) ? undefined : t.needs[needs]);
}

const dayMs = 86_400_000;

/** Of what the daily limits count, in the reader's words: they begin anew at midnight UTC. */
export function useLimitDay(): string {
  const t = usePortal();
  const zone = useZone();
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  return t.limitDay(wallClockIn(zone, midnight).slice(11, 16), zoneName(zone, midnight));
}

interface SecretProps {
  title: string;
  secrets: string[];
  /** Instead of the warning that it is shown once. */
  says?: ReactNode;
  onClose: () => void;
}

/** Shows a secret. It is in the memory of the page only, and gone when the dialog is closed. */
export function ShowSecret({ title, secrets, says, onClose }: SecretProps) {
  const t = useTexts(texts);
  return (
    <Modal
      opened
      onClose={onClose}
      closeOnClickOutside={false}
      title={title}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <Stack gap="md">
        {secrets.map(secret => (
          <span key={secret} className="portal-secret">
            <Copyable text={secret} />
          </span>
        ))}
        <p>{says ?? t.once}</p>
        <Button onClick={onClose}>{t.close}</Button>
      </Stack>
    </Modal>
  );
}

interface TileProps {
  name: string;
  value: ReactNode;
  /** Under the value. */
  children?: ReactNode;
}

/** A figure at a glance. */
export const Tile = ({ name, value, children }: TileProps) => (
  <div className="tile">
    <p className="dim">{name}</p>
    <p className="tile-value">{value}</p>
    {children}
  </div>
);
