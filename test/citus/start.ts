import { afterFile } from '../helpers/after-file.ts';
import { newFolder } from '../helpers/folders.ts';
import { type Citus, launchCitus } from './citus.ts';

/** Citus until the end of the test file. */
export const startCitus = ({ workers = 2, settings = [] as string[] } = {}): Promise<Citus> =>
  launchCitus(newFolder(), { workers, settings, atEnd: afterFile });
