import { Alert, Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Done } from '../../../src/console/shapes.ts';
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
  const ready = (props.ready ?? true) && (!props.withReason || reason.trim().length >= 3);

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!ready || pending) return;
    setPending(true);
    setRefusal(null);
    try {
      const answer = await props.run(reason.trim());
      tell.done(isWaiting(answer) ? t.waitsForSecond : t.done);
      props.onClose();
      props.onDone?.(answer);
    } catch (error) {
      setRefusal(error);
    } finally {
      setPending(false);
      // Whether it was done or refused, what the page shows may be past.
      void queries.invalidateQueries();
    }
  }

  return (
    <Modal
      opened
      onClose={() => !pending && props.onClose()}
      title={props.title}
      closeButtonProps={{ 'aria-label': t.close }}
    >
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
            <Button variant="default" onClick={props.onClose} disabled={pending}>
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

const isWaiting = (answer: unknown): boolean => (answer as Partial<Done> | null)?.outcome === 'waiting';
