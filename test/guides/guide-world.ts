import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, type ExpectStatic } from 'vitest';
import { startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { createPartnerWithKeys, secretKey, setRate } from '../helpers/partners.ts';
import { processEnv } from '../helpers/process-env.ts';
import { pack, root, run } from '../sdk/packed.ts';
import { runGuide } from './run-guide.ts';
import type { prepare } from './snippet-files.ts';
import { type Guide, guides, type Language } from './snippets.ts';

/** Commands start slowly on a busy machine, and a guide has many. */
export const guideTimeoutMs = 180_000;

export const withSnippets = guides.filter(({ steps }) => steps.length > 0);

/** A running service, and a project of a partner with the library in it. */
export async function startGuideWorld() {
  const { pool, url } = await createDatabase();
  const env = { ...processEnv, DATABASE_URL: url, DATA_DIR: newFolder(), SECRET_KEY: secretKey };
  const service = startService(env);
  afterAll(async () => void (await (await service).stop()));

  // Unpacked only: that it can be installed is tested elsewhere.
  const project = newFolder();
  const library = join(project, 'node_modules/kopeck-client');
  mkdirSync(library, { recursive: true });
  run('tar', ['xzf', pack(), '--strip-components=1', '-C', library], project);
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  for (const name of ['@types', 'express', 'fastify', 'hono'])
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));

  const { address } = await service;
  // It asks its sources for the first rate.
  await setRate(pool);

  /** Each reader is a partner of its own. */
  async function read(
    guide: Guide,
    language: Language,
    prepared: Awaited<ReturnType<typeof prepare>>,
    expect: ExpectStatic,
  ) {
    // Enough for the largest payment.
    const customer = await createPartnerWithKeys(pool, 5_000_000_000n);
    await runGuide(guide, language, prepared, { address, env, expect, ...customer });
  }

  return { project, read };
}
