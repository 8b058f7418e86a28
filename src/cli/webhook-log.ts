import type { Id } from '../base/ids.ts';
import { formatEventId, listAttempts, responseText } from '../webhooks/index.ts';
import type { CommandContext } from './command.ts';
import { type Output, table } from './output.ts';
import { find } from './partner.ts';

export async function showLog(
  context: CommandContext,
  partner: string,
  { limit, endpoint: endpointId }: { limit: number; endpoint?: Id<'whe'> },
): Promise<Output> {
  const { partnerId } = await find(context, partner);
  const attempts = await listAttempts(context.audit.pool, partnerId, limit, { endpointId });
  return {
    json: {
      attempts: attempts.map(attempt => ({
        event_id: formatEventId(attempt.eventId),
        endpoint_id: attempt.endpointId,
        attempt: attempt.attempt,
        at: attempt.at.toISOString(),
        status: attempt.status,
        error: attempt.error,
        duration_ms: attempt.durationMs,
      })),
    },
    text: table(attempts, attempt => ({
      event: formatEventId(attempt.eventId),
      endpoint: attempt.endpointId,
      attempt: attempt.attempt,
      'at (UTC)': attempt.at,
      response: responseText(attempt),
      ms: attempt.durationMs,
    })),
  };
}
