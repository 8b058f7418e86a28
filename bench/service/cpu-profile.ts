import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Short enough for some ten thousand samples of a load of a few seconds. */
const sampleEveryMicros = 500;
const tries = 50;
const pauseMs = 100;

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string };
  children?: number[];
}

interface CpuProfile {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
}

/** What the process that listens with its inspector on this port does meanwhile, by part of the program, as shares of its busy time. */
export async function profileParts(
  { pid, inspectorPort }: { pid: number; inspectorPort: number },
  work: () => Promise<unknown>,
): Promise<Record<string, number>> {
  // Node opens its inspector at this signal.
  process.kill(pid, 'SIGUSR1');
  const session = await connect(inspectorPort);
  try {
    await session.call('Profiler.enable');
    await session.call('Profiler.setSamplingInterval', { interval: sampleEveryMicros });
    await session.call('Profiler.start');
    await work();
    const { profile } = await session.call<{ profile: CpuProfile }>('Profiler.stop');
    return sharesOf(profile);
  } finally {
    session.close();
  }
}

async function connect(port: number) {
  const [{ webSocketDebuggerUrl }] = await listTargets(port);
  const socket = new WebSocket(webSocketDebuggerUrl);
  await once(socket, 'open');
  let lastId = 0;
  return {
    call: async <Result>(method: string, params: object = {}): Promise<Result> => {
      const id = ++lastId;
      const answered = new Promise<Result>((resolve, reject) => {
        const onMessage = ({ data }: MessageEvent) => {
          const answer = JSON.parse(data as string);
          if (answer.id !== id) return;
          socket.removeEventListener('message', onMessage);
          if (answer.error) reject(new Error(`${method}: ${answer.error.message}`));
          else resolve(answer.result);
        };
        socket.addEventListener('message', onMessage);
      });
      socket.send(JSON.stringify({ id, method, params }));
      return answered;
    },
    close: () => socket.close(),
  };
}

/** The inspector opens some time after the signal. */
async function listTargets(port: number): Promise<[{ webSocketDebuggerUrl: string }]> {
  for (let tried = 1; ; tried++) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
      return (await answer.json()) as [{ webSocketDebuggerUrl: string }];
    } catch (error) {
      if (tried === tries) throw error;
      await sleep(pauseMs);
    }
  }
}

function sharesOf({ nodes, samples, timeDeltas }: CpuProfile): Record<string, number> {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map(child => [child, id])));
  const byId = new Map(nodes.map(node => [node.id, node]));
  const partOfNode = new Map<number, string>();
  /** Of Node's own code: the part that called it. */
  const partOf = (node: ProfileNode): string => {
    const known = partOfNode.get(node.id);
    if (known !== undefined) return known;
    const parent = byId.get(parents.get(node.id) ?? 0);
    const part = ownPart(node.callFrame) ?? (parent ? partOf(parent) : nodeItself);
    partOfNode.set(node.id, part);
    return part;
  };
  const micros = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const node = byId.get(id)!;
    if (node.callFrame.functionName === '(idle)') continue;
    const part = partOf(node);
    const spent = timeDeltas[index]!;
    micros.set(part, (micros.get(part) ?? 0) + spent);
    busy += spent;
  }
  const sorted = [...micros].sort(([, a], [, b]) => b - a);
  return Object.fromEntries(sorted.map(([part, spent]) => [part, spent / busy]));
}

const nodeItself = 'Node: sockets, timers, promises';
const ofEngine = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'Node: native code and the kernel'],
]);

/** Packages that serve one purpose together. */
const ofPackages: [part: string, packages: string[]][] = [
  ['database driver', ['pg', 'pg-pool', 'pg-protocol', 'pg-types', 'postgres-array']],
  ['HTTP framework', ['fastify', 'avvio', 'find-my-way', 'fast-querystring', 'secure-json-parse', 'reusify']],
  ['HTTP client', ['undici']],
  ['metrics', ['prom-client']],
  ['validation', ['ajv', 'typebox']],
];

/** The part of the program that a function belongs to; undefined for Node's own. */
function ownPart({ functionName, url }: ProfileNode['callFrame']): string | undefined {
  const engine = ofEngine.get(functionName);
  if (engine) return engine;
  const name = /\/node_modules\/(@?[\w.-]+)/.exec(url)?.[1];
  if (name) return ofPackages.find(([, packages]) => packages.includes(name))?.[0] ?? name;
  const folder = /\/src\/([\w-]+(?:\/(?:http|create|batching|postgres))?)/.exec(url)?.[1];
  return folder && `src/${folder}`;
}
