import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newFolder } from './folders.ts';

/** The document is OpenAPI 3.1, and the linter has neither an error nor a warning for it. */
export function expectLintedOpenApi(document: { openapi?: unknown }): void {
  const folder = newFolder();
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  writeFileSync(join(folder, 'redocly.yaml'), 'extends: [recommended]\ntelemetry: off\n');
  const { status, stdout, stderr } = spawnSync('redocly', ['lint', 'openapi.json', '--format=stylish'], {
    cwd: folder,
    env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' },
    encoding: 'utf8',
  });
  expect({ status, warnings: /warning/.test(stdout + stderr) }, stdout + stderr).toEqual({
    status: 0,
    warnings: false,
  });
  expect(document.openapi).toBe('3.1.0');
}
