import { afterAll } from 'vitest';
import { endFile } from './helpers/after-file.ts';

// Files share their process and its modules: what one has opened must be gone when the next begins.
afterAll(endFile);
