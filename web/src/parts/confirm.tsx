import { Alert, Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Done } from '../../../src/console/shapes.ts';
import { Refused, session } from '../api.ts';
import { useCommon } from '../texts/common.ts';
import { useNotify } from './notify.ts';
import { WhyRefused } from './page.tsx';

interface ConfirmProps {
  title: string;
  /** What will happen, in a sentence or two. */
  says: ReactNode;
  /** The label of the button: what it does. */
  verb: string;
  danger?: boolean;
  /** Ask for a reason of at least three letters, which `run` gets. */
  withReason?: boolean;
  /** Further fields. */
  children?: ReactNode;
  /** False while the fields are not complete. */
  ready?: boolean;
  run: (reason: string) => Promise<unknown>;
  /** Also called after a refusal that cannot be retried here. */
  onClose: () => void;
  onDone?: (answer: unknown) => void;
}

/** The confirmation dialog of an action. Open while it is mounted. */
export function Confirm(props: ConfirmProps) {
  const t = useCommon();
  const notify = useNotify();
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const [pending, setPending] = useState(false);
  const [refusal, setRefusal] = useState<unknown>(null);
  const leave = useWordOnLeaving();
  const ready = (props.ready ?? true) && (!props.withReason || reason.trim().length >= 3);

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!ready || pending) return;
    setPending(true);
    setRefusal(null);
    leave.with(null);
    try {
      const answer = await props.run(reason.trim());
      notify.done(isWaiting(answer) ? t.waitsForSecond : t.done);
      props.onClose();
      props.onDone?.(answer);
    } catch (error) {
      setRefusal(error);
      leave.with(error);
    } finally {
      setPending(false);
      // Done or refused: the data on the page may be outdated.
      void queries.invalidateQueries();
    }
  }

  function close() {
    if (pending) return;
    leave.with(null);
    props.onClose();
  }

  return (
    <Modal opened onClose={close} title={props.title} closeButtonProps={{ 'aria-label': t.close }}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <div>{props.says}</div>
          {props.children}
          {props.withReason && (
            <Textarea
              label={t.reason}
              description={t.reasonHint}
              value={reason}
              onChange={event => setReason(event.currentTarget.value)}
              minRows={2}
              maxLength={128}
              required
              data-autofocus
            />
          )}
          <WhyRefused error={refusal} />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={close} disabled={pending}>
              {t.cancel}
            </Button>
            <Button type="submit" color={props.danger ? 'red' : 'blue'} loading={pending} disabled={!ready}>
              {props.verb}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/**
 * The subject of the dialog may finish, or another operator may decide on it, while the dialog is open; it then
 * disappears with its subject. The reason, or the refusal, is still shown as a notification.
 */
function useWordOnLeaving(): { with: (word: unknown) => void } {
  const notify = useNotify();
  const word = useRef<unknown>(new Refused('stale', 0, ''));
  const isGone = useRef(false);
  const latest = useRef(notify);
  latest.current = notify;
  useEffect(() => {
    const { pathname } = location;
    isGone.current = false;
    return () => {
      isGone.current = true;
      const isElsewhere = location.pathname !== pathname || !session.get();
      if (word.current !== null && !isElsewhere) latest.current.failed(word.current);
    };
  }, []);
  return {
    with(said) {
      if (isGone.current && said !== null) latest.current.failed(said);
      word.current = said;
    },
  };
}

const isWaiting = (answer: unknown): boolean => (answer as Partial<Done> | null)?.outcome === 'waiting';

interface OutdatedProps {
  title: string;
  verb: string;
  onTake: () => void;
  /** What differs now. */
  children?: ReactNode;
}

/** Another operator has changed what this dialog would change. */
export const Outdated = ({ title, verb, onTake, children }: OutdatedProps) => (
  <Alert color="yellow" role="alert" title={title}>
    {children}
    <Button size="xs" variant="default" onClick={onTake} {...(children ? { mt: 'xs' } : {})}>
      {verb}
    </Button>
  </Alert>
);
