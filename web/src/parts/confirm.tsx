import { Alert, Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Done } from '../../../src/console/shapes/approvals.ts';
import { Refused, session } from '../api.ts';
import { useSentence, useShared } from '../texts/index.ts';
import { useTell } from './tell.ts';

interface ConfirmProps {
  title: string;
  /** What will happen, in a sentence or two. */
  says: ReactNode;
  /** The words on the button: what it does. */
  verb: string;
  danger?: boolean;
  /** Ask for a reason of at least three letters; it is given to `run`. */
  withReason?: boolean;
  /** Further fields. */
  children?: ReactNode;
  /** False while the fields are not complete. */
  ready?: boolean;
  run: (reason: string) => Promise<unknown>;
  /** Also after a refusal that leaves nothing to try again here. */
  onClose: () => void;
  onDone?: (answer: unknown) => void;
}

/** Asks before something is done. Shown while it is mounted. */
export function Confirm(props: ConfirmProps) {
  const t = useShared();
  const sentence = useSentence();
  const tell = useTell();
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
      tell.done(isWaiting(answer) ? t.waitsForSecond : t.done);
      props.onClose();
      props.onDone?.(answer);
    } catch (error) {
      setRefusal(error);
      leave.with(error);
    } finally {
      setPending(false);
      // Whether it was done or refused, what the page shows may be past.
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
          {refusal !== null && (
            <Alert color="red" role="alert">
              {sentence(refusal)}
            </Alert>
          )}
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
 * What it was about may end or be decided by somebody else while this is open, and it goes away with it. Then whoever
 * was asked hears why, or what was refused, all the same.
 */
function useWordOnLeaving(): { with: (word: unknown) => void } {
  const tell = useTell();
  const word = useRef<unknown>(new Refused('stale', 0, ''));
  const isGone = useRef(false);
  const latest = useRef(tell);
  latest.current = tell;
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
