import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { describe, test } from 'vitest';
import { afterFile } from '../helpers/after-file.ts';

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Where `.ci/run` installs one if the machine has none. */
const cache = resolve(import.meta.dirname, '../../node_modules/.cache/chromium/node_modules');

async function findExecutable(): Promise<string | undefined> {
  const { CHROMIUM } = process.env;
  const found = CHROMIUM ?? installed.find(path => existsSync(path));
  if (found || !existsSync(cache)) return found;
  const entry = pathToFileURL(createRequire(cache).resolve('@sparticuz/chromium'));
  const { default: packed } = await import(entry.href);
  return packed.executablePath();
}

let opened: Promise<Browser | undefined> | undefined;

/**
 * A real browser; undefined, with a notice, if there is none: then the tests that need it are skipped. Files in one
 * process share it without sharing windows; it ends with the process.
 */
export async function openBrowser(): Promise<Browser | undefined> {
  opened ??= launch();
  const browser = await opened;
  afterFile(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
  });
  return browser;
}

async function launch(): Promise<Browser | undefined> {
  const executablePath = await findExecutable();
  if (!executablePath) return skip('there is no Chromium on this machine');
  try {
    // Root may not use the sandbox; the pages are our own, on loopback.
    return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  } catch (error) {
    return skip(`${executablePath} does not start (${String(error).split('\n', 1)[0]})`);
  }
}

function skip(why: string): undefined {
  const line = '!'.repeat(78);
  console.warn(
    `${line}\n!!  THE BROWSER TESTS ARE SKIPPED: ${why}.\n!!  Set CHROMIUM to one, or run .ci/run, which installs it.\n${line}`,
  );
  return undefined;
}

/** Tests that share one browser; skipped where there is none. */
export const describeInBrowser = (name: string, tests: (browser: Browser) => Promise<void>) =>
  describe(name, async () => {
    const browser = await openBrowser();
    if (browser) await tests(browser);
    else test.skip('needs Chromium');
  });
