import { resolve } from 'node:path';
import type { S3Settings } from '../../base/s3-settings.ts';
import { openFolderStore } from './folder-store.ts';
import { isBucketAddress } from './s3/bucket.ts';
import { openS3Store } from './s3/s3-store.ts';
import type { BackupStore } from './store.ts';

/** A folder, or `s3://BUCKET/FOLDER`. */
export const openStore = (address: string, s3: S3Settings | undefined): BackupStore =>
  isBucketAddress(address) ? openS3Store(address, s3) : openFolderStore(resolve(address));
