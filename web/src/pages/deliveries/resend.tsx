import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { DeliveryRow } from '../../../../src/console/shapes/deliveries.ts';
import { query, send } from '../../api.ts';
import { useSentence, useShared, useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

export type Chosen = Pick<DeliveryRow, 'event_id' | 'partner_id' | 'endpoint_id'>;

interface Progress {
  done: number;
  failures: number;
  error: unknown;
  isRunning: boolean;
}

/** Queues the chosen events one after the other, and shows how far it is. Open while it is mounted. */
export function ResendDialog({ chosen, onClose }: { chosen: Chosen[]; onClose: (all: boolean) => void }) {
  const t = useTexts(texts);
  const shared = useShared();
  const sentence = useSentence();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress | null>(null);
  const isStopped = useRef(false);

  async function run() {
    const now: Progress = { done: 0, failures: 0, error: null, isRunning: true };
    setProgress({ ...now });
    for (const { event_id, partner_id, endpoint_id } of chosen) {
      if (isStopped.current) break;
      try {
        await send(`/events/${event_id}/resend${query({ partner_id, endpoint_id })}`);
        now.done += 1;
      } catch (error) {
        now.failures += 1;
        now.error ??= error;
      }
      setProgress({ ...now });
    }
    setProgress({ ...now, isRunning: false });
    void queries.invalidateQueries();
  }

  const isRunning = progress?.isRunning ?? false;
  const close = () => {
    if (!isRunning) onClose(progress?.done === chosen.length);
  };
  return (
    <Modal opened onClose={close} title={t.resend} closeButtonProps={{ 'aria-label': shared.close }}>
      <Stack gap="md">
        <p>{t.resendSays(chosen.length)}</p>
        {progress && (
          <div role="status">
            <progress
              className="progress"
              max={chosen.length}
              value={progress.done + progress.failures}
              aria-label={t.resend}
            />
            <p>{t.resendProgress(progress.done, chosen.length)}</p>
          </div>
        )}
        {progress && progress.failures > 0 && (
          <Alert color="red" role="alert">
            {t.resendFailed(progress.failures)} {sentence(progress.error)}
          </Alert>
        )}
        <Group justify="flex-end" gap="sm">
          {isRunning ? (
            <Button
              variant="default"
              onClick={() => {
                isStopped.current = true;
              }}
            >
              {t.resendStop}
            </Button>
          ) : (
            <Button variant="default" onClick={close}>
              {progress ? shared.done : shared.cancel}
            </Button>
          )}
          {(!progress || isRunning) && (
            <Button loading={isRunning} onClick={() => void run()} data-autofocus>
              {t.resendMany(chosen.length)}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
