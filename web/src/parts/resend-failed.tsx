import { useState } from 'react';
import type { FailedCount, ResentBatch } from '../../../src/web/shapes.ts';
import { query, send } from '../api.ts';
import { useTexts } from '../texts/language.ts';
import { resendTexts } from '../texts/resend.ts';
import { BatchDialog, type Report } from './batch-dialog.tsx';
import { Loaded, useOnce } from './page.tsx';

interface FailedProps {
  /** Of the list of deliveries. */
  path: string;
  filters: Record<string, string>;
  onClose: () => void;
}

/** As many as the server carries out in one request. */
const batchSize = 500;

/** Sends again everything that failed and matches the filters, once its number is confirmed. */
export function ResendFailedDialog({ path, filters, onClose }: FailedProps) {
  const t = useTexts(resendTexts);
  const [isDone, setDone] = useState(false);
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
  const found = useOnce<FailedCount>(`${path}/failed${query(given)}`);
  // Counted again after the events are queued, there are none: the dialog keeps the number that was confirmed.
  const [confirmed, setConfirmed] = useState<number | null>(null);
  const count = confirmed ?? (found.isFetching ? 0 : (found.data?.count ?? 0));

  async function run(report: (now: Report) => void, isStopped: () => boolean) {
    setConfirmed(count);
    const now: Report = { done: 0, failures: 0, error: null };
    try {
      for (let after: string | null = ''; after !== null && now.done < count && !isStopped(); ) {
        const batch: ResentBatch = await send<ResentBatch>(`${path}/resend-failed`, {
          ...given,
          ...(after && { after }),
          max: Math.min(batchSize, count - now.done),
        });
        now.done += batch.queued;
        after = batch.next_cursor;
        report(now);
      }
    } catch (error) {
      now.error = error;
      report(now);
    }
    setDone(true);
  }

  const hasMore = found.data?.is_complete === false && !isDone;
  return (
    <BatchDialog
      title={t.allFailed}
      verb={t.many(count)}
      of={count}
      says={
        count > 0 ? (
          <p>
            {t.allFailedSays(count)} {hasMore && t.thereAreMore}
          </p>
        ) : (
          <Loaded of={found}>{() => !found.isFetching && <p>{t.noneFailed}</p>}</Loaded>
        )
      }
      run={run}
      onClose={onClose}
    />
  );
}
