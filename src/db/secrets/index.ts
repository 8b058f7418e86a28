/**
 * The secret key: its keyring, sealing with it, what is sealed in the database, replacing it, and settings whose values
 * are in files. Keys of partners are in `src/partners/`, passwords in `src/operators/`.
 */
export { createKeyring, type Keyring, type SecretKey } from './keyring.ts';
export { findStragglers, resealAll, switchKeyWhenEnded } from './rotation.ts';
export {
  countValues,
  listKeysLeft,
  listSecretKeys,
  purposes,
  type ValueCount,
} from './sealed-values.ts';
export { createSealer, isNamed, type Sealer, seal, sealOverheadBytes, unseal } from './sealing.ts';
export { loadSettings, withSecretFiles } from './secret-files.ts';
export { followActiveKey, openKeyring } from './secret-key.ts';
