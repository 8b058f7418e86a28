import type { Id } from '../../src/base/ids.ts';
import type { SendError, SendResult } from '../../src/webhooks/http/post.ts';
import type { Sender, WebhookRequest } from '../../src/webhooks/http/sender.ts';
import type { Step } from './scheduler.ts';
import { type World, wireDelayMs } from './world.ts';

/** What a receiver does with an event, or what happens to the event on its way. */
type Behaviour = 'takes' | 'refuses' | 'hangs' | 'late' | 'unreachable' | 'loses_answer' | 'busy';

const faultyBehaviours: Behaviour[] = ['refuses', 'refuses', 'hangs', 'late', 'unreachable', 'loses_answer'];
/** How often all connections to a receiver are in use. */
const busyShare = 0.03;

/** One attempt, from the moment a process sends it. */
export interface Sent {
  processName: string;
  endpointId: Id<'whe'>;
  sending: WebhookRequest;
}

export interface ReceiversOptions {
  endpointOf(url: string): Id<'whe'> | undefined;
  onSend(sent: Sent): void;
  /** The event arrived, whatever result the sender gets. */
  onArrival(sent: Sent): void | Promise<void>;
  onVerdict(sent: Sent, verdict: SendResult): void;
}

/** The faults of a receiver: how often, which, from when and until when. */
export interface Receiver {
  faultShare: number;
  behaviours: Behaviour[];
  /** The share of events that it never takes, however often they are sent. */
  rejectedShare: number;
  fromMs: number;
  untilMs: number;
  /** Its faults continue when all other faults stop. */
  isPermanent: boolean;
}

export function drawReceiver({ random, scheduler, script }: World, faultsEndAfterMs: number): Receiver {
  const fromMs = scheduler.nowMs() + random.pick([0, 0, random.between(0, faultsEndAfterMs)]);
  return {
    faultShare: script ? 0 : random.pick([0, 0.3, 0.9, 1, 1]),
    behaviours: random.chance(0.6) ? [random.pick(faultyBehaviours)] : faultyBehaviours,
    rejectedShare: script ? 0 : random.pick([0, 0, 0.4, 0.7]),
    fromMs,
    untilMs: fromMs + random.pick([random.between(0, faultsEndAfterMs), Number.POSITIVE_INFINITY]),
    isPermanent: random.chance(0.15),
  };
}

const timeoutMs = 10_000;

/** The receivers of partners, behind the service's sender interface. */
export function createReceivers(world: World, options: ReceiversOptions) {
  const { random, scheduler, trace } = world;
  const receivers = new Map<Id<'whe'>, Receiver>();
  const rejectedBodies = new Map<string, boolean>();

  function behaviourOf({ endpointId, sending: { body } }: Sent): Behaviour {
    const { faultShare, behaviours, rejectedShare, fromMs, untilMs } = receivers.get(endpointId)!;
    const nowMs = scheduler.nowMs();
    if (world.faultsStoppedMs === undefined && random.chance(busyShare)) return 'busy';
    const event = `${endpointId} ${body}`;
    const isUnwanted = rejectedBodies.get(event) ?? random.chance(rejectedShare);
    rejectedBodies.set(event, isUnwanted);
    if (isUnwanted) return 'refuses';
    return nowMs >= fromMs && nowMs < untilMs && random.chance(faultShare)
      ? random.pick(behaviours)
      : 'takes';
  }

  function send(processName: string, sending: WebhookRequest): Promise<SendResult> {
    const endpointId = options.endpointOf(sending.url);
    if (!endpointId) {
      world.violate('only addresses that partners gave are sent to', sending.url);
      return new Promise(() => {});
    }
    const sent = { processName, endpointId, sending };
    options.onSend(sent);
    const startedMs = scheduler.nowMs();
    const behaviour = behaviourOf(sent);
    const waiting: Step[] = [];
    return new Promise(resolve => {
      const answerAfter = (delayMs: number, result: { status: number } | { error: SendError }) => {
        const run = () => {
          for (const step of waiting) scheduler.cancel(step);
          const durationMs = Math.round(scheduler.nowMs() - startedMs);
          const verdict: SendResult =
            'status' in result
              ? { outcome: 'answered', ...result, durationMs }
              : { outcome: 'failed', ...result, durationMs };
          trace.add(processName, `gets from ${endpointId}: ${Object.values(result)}`);
          options.onVerdict(sent, verdict);
          resolve(verdict);
        };
        waiting.push(scheduler.after(delayMs, { processName, run }));
      };
      const arrive = async () => {
        trace.add(endpointId, `${behaviour} what ${processName} sends`);
        await options.onArrival(sent);
        if (behaviour === 'takes' || behaviour === 'late') {
          const lateMs = behaviour === 'late' ? random.between(300, 30_000) : random.between(0, 40);
          answerAfter(lateMs, { status: random.pick([200, 204]) });
        } else if (behaviour === 'refuses') {
          answerAfter(random.between(0, 300), { status: random.pick([302, 400, 404, 500, 503]) });
        } else if (behaviour === 'loses_answer') {
          answerAfter(random.between(0, 3_000), { error: 'closed' });
        }
      };
      if (behaviour === 'busy') return answerAfter(timeoutMs, { error: 'busy' });
      if (behaviour === 'unreachable') return answerAfter(random.between(0, 3_000), { error: 'closed' });
      answerAfter(timeoutMs, { error: 'timeout' });
      // No event arrives after its timeout, so that events arrive in the order of the attempts.
      scheduler.after(Math.min(wireDelayMs(world), timeoutMs - 1), { run: arrive });
    });
  }

  return {
    portOf: (processName: string): Sender => ({
      send: sending => send(processName, sending),
      close: () => Promise.resolve(),
      hosts: 0,
    }),
    add: (endpointId: Id<'whe'>, how: Receiver) => void receivers.set(endpointId, how),
    stopFaults: () => {
      for (const receiver of receivers.values()) {
        if (receiver.isPermanent) continue;
        receiver.untilMs = scheduler.nowMs();
        receiver.rejectedShare = 0;
      }
      rejectedBodies.clear();
    },
  };
}
