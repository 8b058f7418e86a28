import { systemClock } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import { programName } from '../base/program-name.ts';
import { parseEventId, resendEvent, resendFailed } from '../webhooks/index.ts';
import { endpoint, instant } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { bar, type Output } from './output.ts';
import { RefusedError } from './refused.ts';
import { severalEndpoints } from './webhook-choice.ts';

export const resendCommand = (withDatabase: WithDatabase) =>
  command('resend', 'resend an event, or all that failed permanently')
    .argument('[event]', 'such as evt_17')
    .option('--endpoint <endpoint>', 'where to; needed if several endpoints get events of its mode', endpoint)
    .option('--failed', 'all events that failed permanently, of all partners')
    .option('--since <time>', 'only those that failed since this time, such as 2026-11-15T10:00:00Z', instant)
    .hook('preAction', self => {
      const { failed = false, since, endpoint: to } = self.opts();
      if ((self.args[0] === undefined) !== failed || (since && !failed) || (to && failed))
        self.error('error: specify an event, or use --failed, optionally with --since');
    })
    .action(
      withDatabase((context, event: string | undefined, options: ResendOptions) =>
        event === undefined
          ? resendAll(context, options.since ?? new Date(0))
          : resendOne(context, event, options.endpoint),
      ),
    );

interface ResendOptions {
  since?: Date;
  endpoint?: Id<'whe'>;
}

async function resendOne(
  { audit }: CommandContext,
  text: string,
  endpointId: Id<'whe'> | undefined,
): Promise<Output> {
  const eventId = parseEventId(text);
  const result =
    eventId === undefined
      ? { outcome: 'no_event' as const }
      : await resendEvent(audit, eventId, { endpointId });
  switch (result.outcome) {
    case 'queued':
      return {
        json: {
          event_id: text,
          partner_id: result.partnerId,
          endpoint_id: result.endpointId,
          queued: true,
          suspended: result.suspended,
        },
        text: result.suspended
          ? `${text} will be resent to ${result.partnerId} after a successful ${programName} webhook check.`
          : `${text} is being resent to ${result.partnerId}.`,
      };
    case 'several_endpoints':
      throw severalEndpoints(result.partnerId, result.endpoints);
    case 'no_webhook':
      throw new RefusedError(
        'no_webhook',
        endpointId
          ? `${endpointId} is no endpoint for ${text}: see ${programName} webhook list.`
          : `The partner of ${text} has no webhook that gets such events: see ${programName} webhook list.`,
      );
    case 'no_event':
      throw new RefusedError('no_event', `There is no event ${text}: IDs look like evt_17.`);
  }
}

async function resendAll({ audit, progress }: CommandContext, since: Date): Promise<Output> {
  const startedAt = systemClock.monotonicMs();
  const queued = await resendFailed(audit, since, (done, of) => {
    if (systemClock.monotonicMs() - startedAt > 2_000) progress(bar(done, of));
  });
  const text = `Events to resend: ${queued}. Partners with suspended delivery need ${programName} webhook check first.`;
  return { json: { queued }, text };
}
