import { afterAll } from 'vitest';
import { endFile } from './helpers/after-file.ts';

// Test files share their process and its modules (`isolate: false`), so each must close what it has opened.
afterAll(endFile);
