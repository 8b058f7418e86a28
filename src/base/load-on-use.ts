import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** A large package is loaded when it is first needed: most commands of the command line end before that. */
export function loadOnUse<Package>(name: string): () => Package {
  let loaded: Package | undefined;
  return () => {
    loaded ??= require(name) as Package;
    return loaded;
  };
}
