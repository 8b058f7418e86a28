import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from './context.ts';
import { driveStrictly, payTargets, timing } from './drive.ts';
import type { BenchEnvironment } from './environment.ts';
import { type Figure, megabytes } from './figures.ts';
import { hasProcessFiles, readGroups, readProcessFile } from './processes.ts';

/** Bytes by group, without PostgreSQL's shared buffers. */
export interface Memory {
  service: number;
  postgres: number;
}

const connections = 256;
const limitMb = 450;
const sampleEveryMs = 500;

/** Shared pages are divided among their users where the kernel says how many they are; else they count for each. */
const hasShares = readProcessFile('self', 'smaps_rollup').includes('Pss:');
const sizes = hasShares
  ? { file: 'smaps_rollup', all: /^Pss:\s+(\d+)/m, sharedMemory: /^Pss_Shmem:\s+(\d+)/m }
  : { file: 'status', all: /^VmRSS:\s+(\d+)/m, sharedMemory: /^RssShmem:\s+(\d+)/m };
const howCounted = hasShares
  ? 'PSS of smaps_rollup, without shared buffers'
  : 'RSS, as there is no smaps_rollup; without shared buffers';

function bytesOf(pid: number): number {
  const text = readProcessFile(pid, sizes.file);
  const kilobytes = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
  return (kilobytes(sizes.all) - kilobytes(sizes.sharedMemory)) * 1_024;
}

export const totalOf = ({ service, postgres }: Memory) => service + postgres;

async function readMemory(environment: BenchEnvironment): Promise<Memory> {
  const { service, postgres } = await readGroups(environment);
  const sum = (pids: { pid: number }[]) => pids.reduce((bytes, { pid }) => bytes + bytesOf(pid), 0);
  return { service: sum(service), postgres: sum(postgres) };
}

/** Samples memory at an interval while `work` runs. No samples where there are no process files. */
export async function whileSampling<Result>(
  environment: BenchEnvironment,
  everyMs: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; samples: Memory[] }> {
  const samples: Memory[] = [];
  const ended = new AbortController();
  const sampling = (async () => {
    while (hasProcessFiles && !ended.signal.aborted) {
      samples.push(await readMemory(environment));
      await sleep(everyMs, undefined, { signal: ended.signal }).catch(() => {});
    }
  })();
  try {
    return { result: await work(), samples };
  } finally {
    ended.abort();
    await sampling;
  }
}

/** Memory of the service and its database under a load of both modes. By itself, since reading it takes time from the load. */
export async function memorySection(context: Context): Promise<Figure[]> {
  const environment = await context.environment();
  const livePartners = await context.livePartners();
  if (!hasProcessFiles) return [];
  const load = async (name: string, partners: typeof livePartners) => {
    context.progress(`Memory under ${name} payments, ${connections} connections …`);
    const { address } = environment.service;
    const plan = { address, targets: payTargets(partners), load: { connections } };
    await driveStrictly({ ...plan, work: 'pay', ...timing(context.seconds) });
  };
  const { samples } = await whileSampling(environment, sampleEveryMs, async () => {
    await load('test', environment.partners);
    await load('live', livePartners);
  });
  const most = samples.reduce((a, b) => (totalOf(b) > totalOf(a) ? b : a));
  const value = totalOf(most) / 1024 ** 2;
  return [
    {
      what: `memory of all processes, test and live payments, ${connections} connections`,
      measured: `${megabytes(totalOf(most))} at most (service ${megabytes(most.service)}, PostgreSQL ${megabytes(most.postgres)})`,
      against: howCounted,
      bar: { name: 'memory under load, MiB', value, limit: limitMb, rule: '≤' },
      values: { serviceBytes: most.service, postgresBytes: most.postgres, mebibytes: value, howCounted },
    },
  ];
}
