import type { Id } from '../../src/base/ids.ts';
import type { SendError, Verdict } from '../../src/webhooks/http/post.ts';
import type { Sender, WebhookRequest } from '../../src/webhooks/http/sender.ts';
import type { Step } from './scheduler.ts';
import { type World, wireDelayMs } from './world.ts';

/** What a receiver does with what it is sent, or what happens to it on the way. */
type Manner = 'takes' | 'refuses' | 'hangs' | 'late' | 'unreachable' | 'loses_answer' | 'busy';

const badManners: Manner[] = ['refuses', 'refuses', 'hangs', 'late', 'unreachable', 'loses_answer'];
/** How often all connections to a receiver are taken. */
const busyShare = 0.03;

/** One attempt, from the moment a process sends it. */
export interface Sent {
  owner: string;
  partnerId: Id<'prt'>;
  sending: WebhookRequest;
}

export interface ReceiversOptions {
  partnerOf(url: string): Id<'prt'> | undefined;
  onSend(sent: Sent): void;
  /** It arrived, whatever the sender hears of it. */
  onArrival(sent: Sent): void | Promise<void>;
  onVerdict(sent: Sent, verdict: Verdict): void;
}

export interface Receivers {
  portOf(owner: string): Sender;
  add(partnerId: Id<'prt'>, how: Receiver): void;
  becomeCalm(): void;
}

/** How a receiver is: how often something is wrong with it, what, from when and until when. */
export interface Receiver {
  trouble: number;
  manners: Manner[];
  /** How many of all events it never takes, however often they come. */
  picky: number;
  fromMs: number;
  untilMs: number;
  /** It stays as it is when all else is well. */
  forGood: boolean;
}

export function drawReceiver({ random, scheduler }: World, calmAfterMs: number): Receiver {
  const fromMs = scheduler.nowMs() + random.pick([0, 0, random.between(0, calmAfterMs)]);
  return {
    trouble: random.pick([0, 0.3, 0.9, 1, 1]),
    manners: random.chance(0.6) ? [random.pick(badManners)] : badManners,
    picky: random.pick([0, 0, 0.4, 0.7]),
    fromMs,
    untilMs: fromMs + random.pick([random.between(0, calmAfterMs), Number.POSITIVE_INFINITY]),
    forGood: random.chance(0.15),
  };
}

const timeoutMs = 10_000;

/** Those who receive webhooks, behind the port that the service knows. */
export function createReceivers(world: World, options: ReceiversOptions): Receivers {
  const { random, scheduler, trace } = world;
  const receivers = new Map<Id<'prt'>, Receiver>();
  const unwanted = new Map<string, boolean>();

  function mannerOf({ partnerId, sending: { body } }: Sent): Manner {
    const { trouble, manners, picky, fromMs, untilMs } = receivers.get(partnerId)!;
    const nowMs = scheduler.nowMs();
    if (world.calmSinceMs === undefined && random.chance(busyShare)) return 'busy';
    const isUnwanted = unwanted.get(body) ?? random.chance(picky);
    unwanted.set(body, isUnwanted);
    if (isUnwanted) return 'refuses';
    return nowMs >= fromMs && nowMs < untilMs && random.chance(trouble) ? random.pick(manners) : 'takes';
  }

  function send(owner: string, sending: WebhookRequest): Promise<Verdict> {
    const partnerId = options.partnerOf(sending.url);
    if (!partnerId) {
      world.violate('only addresses that partners gave are sent to', sending.url);
      return new Promise(() => {});
    }
    const sent = { owner, partnerId, sending };
    options.onSend(sent);
    const startedMs = scheduler.nowMs();
    const manner = mannerOf(sent);
    const waiting: Step[] = [];
    return new Promise(resolve => {
      const hearAfter = (delayMs: number, heard: { status: number } | { error: SendError }) => {
        const run = () => {
          for (const step of waiting) scheduler.cancel(step);
          const durationMs = scheduler.nowMs() - startedMs;
          const verdict: Verdict =
            'status' in heard
              ? { outcome: 'answered', ...heard, durationMs }
              : { outcome: 'failed', ...heard, durationMs };
          trace.add(owner, `hears from ${trace.nameOf(partnerId)}: ${Object.values(heard)}`);
          options.onVerdict(sent, verdict);
          resolve(verdict);
        };
        waiting.push(scheduler.after(delayMs, { owner, run }));
      };
      const arrive = async () => {
        trace.add(trace.nameOf(partnerId), `${manner} what ${owner} sends`);
        await options.onArrival(sent);
        if (manner === 'takes' || manner === 'late') {
          const lateMs = manner === 'late' ? random.between(300, 30_000) : random.between(0, 40);
          hearAfter(lateMs, { status: random.pick([200, 204]) });
        } else if (manner === 'refuses') {
          hearAfter(random.between(0, 300), { status: random.pick([302, 400, 404, 500, 503]) });
        } else if (manner === 'loses_answer') {
          hearAfter(random.between(0, 3_000), { error: 'closed' });
        }
      };
      if (manner === 'busy') return hearAfter(timeoutMs, { error: 'busy' });
      if (manner === 'unreachable') return hearAfter(random.between(0, 3_000), { error: 'closed' });
      hearAfter(timeoutMs, { error: 'timeout' });
      // Nothing that arrives does so after the time-out: the order in which events arrive is that of the attempts.
      scheduler.after(Math.min(wireDelayMs(world), timeoutMs - 1), { run: arrive });
    });
  }

  return {
    portOf: owner => ({
      send: sending => send(owner, sending),
      close: () => Promise.resolve(),
      hosts: 0,
    }),
    add: (partnerId, how) => void receivers.set(partnerId, how),
    becomeCalm: () => {
      for (const receiver of receivers.values()) {
        if (receiver.forGood) continue;
        receiver.untilMs = scheduler.nowMs();
        receiver.picky = 0;
      }
      unwanted.clear();
    },
  };
}
